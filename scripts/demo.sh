#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes real calls to httpbin on a private PostgreSQL and shows them through the views.
# Ends non-zero if a call had another result than expected.
set -euo pipefail
cd "$(dirname "$0")/.."
worker=$PWD/${1:?usage: scripts/demo.sh WORKER}
# PGHOSTADDR overrides the host of a connection string, PGSERVICE adds to it.
unset "${!PG@}"

scratch=$(mktemp -d .postrider/demo.XXXXXX)
children=()
finish() {
    local code=$?
    trap - EXIT
    # Not INT: a program that a script starts in the background ignores it by default.
    for child in "${children[@]}"; do kill -TERM "$child" 2>/dev/null || true; done
    for child in "${children[@]}"; do wait "$child" 2>/dev/null || true; done
    if ((code != 0)); then sed 's/^/worker: /' "$scratch/worker.log" 2>/dev/null | tail -20 >&2; fi
    rm -rf "$scratch"
    exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Starts a program that also ends if this script is killed.
start() {
    setpriv --pdeathsig TERM "$@" &
    children+=($!)
}

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
query() { "$psql" -X -q -v ON_ERROR_STOP=1 -At "$database" -c "$1"; }
# psql ends a table with an empty line, as `say` begins.
show() { "$psql" -X -q -v ON_ERROR_STOP=1 -P pager=off -P footer=off -P null=- "$database" -c "$1" | sed '$d'; }

# until_true SECONDS WHAT SQL: polls until the SQL returns t.
until_true() {
    local end=$((SECONDS + $1))
    until [[ $(query "$3") == t ]]; do
        if ((SECONDS >= end)); then
            echo "demo: after $1 s still not: $2" >&2
            exit 1
        fi
        sleep 0.1
    done
}

free_port() { PYTHONPATH=scripts .postrider/venv/bin/python -B -c 'import run_page; print(run_page.free_port())'; }

say '1. worker dev starts a private PostgreSQL with a worker'
mkdir "$scratch/files"
start "$worker" dev --concurrency 8 --files "$scratch/files" --log-format json >"$scratch/dev.out" 2>"$scratch/worker.log"
for _ in {1..900}; do
    database=$(sed -n "s/^.*export DATABASE_URL='\(.*\)'$/\1/p" "$scratch/dev.out")
    [[ -n $database ]] && break
    kill -0 "${children[0]}" 2>/dev/null || { echo 'demo: worker dev has ended' >&2; exit 1; }
    sleep 0.1
done
[[ -n $database ]] || { echo 'demo: worker dev is not up after 90 s' >&2; exit 1; }
grep -E 'dashboard|database' "$scratch/dev.out"
psql=$(printf '%s\n' /usr/lib/postgresql/*/bin/psql | sort -V | tail -1)
[[ -x $psql ]] || psql=psql

port=$(free_port)
closed=$(free_port)
api=http://127.0.0.1:$port

say '2. Four jobs. Their API is still down, so each attempt fails with a reason and is retried'
query "
begin;
insert into postrider.jobs (tag, url, query, max_attempts, backoff)
values ('get', '$api/get', '{\"hello\": \"world\"}', 1000, '{300 ms}');
insert into postrider.jobs (tag, url, max_attempts, backoff)
values ('refused', 'http://127.0.0.1:$closed/', 2, '{100 ms}');
insert into postrider.jobs (tag, url, run_at) values ('later', '$api/get', now() + interval '1 h');
insert into postrider.jobs (tag, url, run_at) values ('never', '$api/get', now() + interval '1 h');
commit;"
until_true 60 'a try of get was refused' \
    "select count(*) > 0 from postrider.attempts a join postrider.jobs j on j.id = a.job_id where j.tag = 'get'"
show "select j.tag, a.attempt, a.error_code, left(a.error, 75) as error
      from postrider.attempts a join postrider.jobs j on j.id = a.job_id where j.tag = 'get' order by a.attempt limit 1"
query "select postrider.explain(id) from postrider.job_status where tag = 'later'"

say "3. The API starts (httpbin at $api), and the waiting job succeeds"
start .postrider/venv/bin/python -m gunicorn --bind "127.0.0.1:$port" --worker-class gevent --graceful-timeout 1 --log-level error \
    --worker-tmp-dir "$scratch" httpbin:app >"$scratch/httpbin.log" 2>&1
until_true 60 'get has succeeded' "select state = 'succeeded' from postrider.job_status where tag = 'get'"

say '4. More jobs: a body, a login, a delay, a 404, a timeout, a shape to check, the cache, a download'
query "
begin;
insert into postrider.jobs (tag, method, url, body_json) values ('post', 'POST', '$api/post', '{\"customer\": 7}');
insert into postrider.jobs (tag, url) values ('login', 'http://ada:lovelace@127.0.0.1:$port/basic-auth/ada/lovelace');
insert into postrider.jobs (tag, url, run_at) values ('soon', '$api/uuid', now() + interval '2 s');
insert into postrider.jobs (tag, url) values ('missing', '$api/status/404');
insert into postrider.jobs (tag, url, timeout, max_attempts) values ('slow', '$api/delay/5', interval '500 ms', 1);
insert into postrider.jobs (tag, url) values ('abort', '$api/delay/10');
commit;"
until_true 60 'abort is running' "select state = 'running' from postrider.job_status where tag = 'abort'"

query "
begin;
insert into postrider.services (name, base_url, headers) values ('bin', '$api', '{\"X-Team\": \"demo\"}');
insert into postrider.jobs (tag, service, url, validator, extract)
values ('shaped', 'bin', 'json', '{\"slideshow\": {\"title\": \"string\", \"slides\": [{\"title\": \"string\"}]}}',
        '\$.slideshow.slides[*].title');
insert into postrider.jobs (tag, service, url, validator)
values ('misshaped', 'bin', 'json', '{\"slideshow\": {\"title\": \"number\"}}');
insert into postrider.jobs (tag, service, url, cache_ttl) values ('cached', 'bin', 'uuid', '1 min'), ('cached', 'bin', 'uuid', '1 min');
insert into postrider.jobs (tag, service, url, download_to) values ('file', 'bin', 'bytes/50000?seed=7', 'demo/bytes.bin');
commit;"

small_port=$(free_port)
small=http://127.0.0.1:$small_port
say "5. Fifteen operations describe a small API at $small once. Chains and batches call it"
echo "The operations are the first block of docs/recipes/accounts-api.md. One statement calls accounts.join, a chain of three others:"
echo "  select postrider.call('accounts.join', '{\"username\": \"ada\", …}')"
start .postrider/venv/bin/python -B -m gunicorn --bind "127.0.0.1:$small_port" --worker-class gevent --graceful-timeout 1 --log-level error \
    --worker-tmp-dir "$PWD/$scratch" --chdir Tests/SmallAPI api:app >"$scratch/small.log" 2>&1
for _ in {1..200}; do (exec 3<>"/dev/tcp/127.0.0.1/$small_port") 2>/dev/null && break; sleep 0.1; done
# The first block of SQL on that page.
operations=$(awk '/^```sql$/ { inside = 1; next } inside && /^```$/ { exit } inside' docs/recipes/accounts-api.md)
query "${operations//https:\/\/accounts.example.com/$small}"
query "
begin;
select postrider.log_in('accounts', '{\"username\": \"shop\", \"password\": \"secret\", \"access_token\": \"expired\"}');
select postrider.call('accounts.join', '{\"username\": \"ada\", \"password\": \"lovelace\", \"picture\": \"<svg/>\"}', tag => 'ada');
insert into postrider.services (name, base_url) values ('small', '$small');
select postrider.submit('{\"tag\": \"grace\", \"chain\": [
  {\"name\": \"a\", \"service\": \"small\", \"method\": \"POST\", \"url\": \"/register\", \"body_json\": {\"username\": \"grace\"}},
  {\"name\": \"both\", \"batch\": [
    {\"name\": \"b\", \"service\": \"small\", \"url\": \"/users/{{a.body.data.id}}\"},
    {\"name\": \"c\", \"service\": \"small\", \"url\": \"/teams/{{a.body.data.team}}\"}]},
  {\"name\": \"picture\", \"service\": \"small\", \"url\": \"{{both.b.body.data.avatar}}\"},
  {\"name\": \"mates\", \"batch\": {\"each\": \"{{both.c.body.data.members}}\", \"do\": {\"service\": \"small\", \"url\": \"/users/{{item}}\"}}},
  {\"name\": \"again\", \"service\": \"small\", \"method\": \"POST\", \"url\": \"/welcome\", \"run_if\": \"\$.a.body.data.fresh == false\"},
  {\"name\": \"d\", \"service\": \"small\", \"method\": \"POST\", \"url\": \"/welcome\", \"body_json\": {\"id\": \"{{both.b.body.data.id}}\"}}]}');
select postrider.submit('{\"tag\": \"three\", \"batch\": [
  {\"service\": \"small\", \"url\": \"/items?limit=2\"}, {\"service\": \"small\", \"url\": \"/users/4711\"},
  {\"service\": \"bin\", \"url\": \"delay/10\"}]}');
insert into postrider.jobs (tag, service, url, paginate)
values ('pages', 'small', '/items', '{\"style\": \"page\", \"param\": \"page\", \"size_param\": \"limit\", \"size\": 40, \"items\": \"\$.data.list\"}');
commit;" >/dev/null

say '6. A lane with two calls at once, a failing server, a token, a schedule'
query "
begin;
insert into postrider.lanes (name, max_in_flight) values ('polite', 2);
insert into postrider.jobs (tag, lane, url) select 'polite', 'polite', '$api/delay/0.3' from generate_series(1, 6);
insert into postrider.services (name, base_url) values ('twins', 'http://127.0.0.1:$closed');
insert into postrider.servers (service, position, base_url)
values ('twins', 1, 'http://127.0.0.1:$closed'), ('twins', 2, '$api');
insert into postrider.jobs (tag, service, url) values ('twin', 'twins', 'uuid');
insert into postrider.credentials (name, kind, allowed_origins) values ('keeper', 'bearer', array['$api']);
insert into postrider.jobs (tag, credential, url, dedupe_key) values ('token', 'keeper', '$api/bearer', 'only once');
insert into postrider.jobs (tag, url, dedupe_key, on_duplicate) values ('token again', '$api/get', 'only once', 'skip');
insert into postrider.schedules (name, cron, spec) values ('tick', '* * * * * *', '{\"url\": \"$api/uuid\"}');
select postrider.log_in('keeper', '{\"access_token\": \"s3cret\"}');
commit;" >/dev/null
until_true 60 'a schedule has ticked twice' \
    "select count(*) >= 2 from postrider.job_status where tag = 'tick' and state = 'succeeded'"
query "update postrider.schedules set enabled = false where name = 'tick'"

say '7. Cancel a running job and a waiting one'
show "select s.tag, s.state, postrider.cancel(s.id) from postrider.job_status s where s.tag in ('abort', 'never') order by s.id"

until_true 60 'all but one job are finished' \
    "select count(*) = 1 from postrider.job_status where state in ('ready', 'running', 'scheduled', 'waiting')"

say '8. The results, in the view job_status'
show "select id, tag, state, attempt, method, regexp_replace(url, '^http://[^/]*', '') as url, status_code, error_code
      from postrider.job_status where kind = 'request' and parent_id is null and tag not in ('polite', 'tick') order by id"
say '9. The chains and the batch: a row for each member. The call of accounts.join made the first four'
show "with recursive tree as (
        select s.*, s.tag as root, array[s.id] as path from postrider.job_status s where s.kind <> 'request' and s.parent_id is null
        union all
        select s.*, t.root, t.path || s.id from tree t join postrider.job_status s on s.parent_id = t.id)
      select root, repeat('  ', cardinality(path) - 1) || coalesce(name, kind) as member, operation, state,
             regexp_replace(url, '^http://[^/]*', '') as url, status_code, left(coalesce(error, result::text), 52) as outcome
        from tree order by path"
say '10. The first attempt with each error. The upload carried an expired token (code 801 in its 200), and was sent again'
show "select distinct on (a.error_code) a.error_code, a.job_id, coalesce(j.operation, j.tag) as job, a.attempt, a.status_code, a.total_ms
      from postrider.attempts a join postrider.jobs j on j.id = a.job_id where a.error_code is not null order by a.error_code, a.job_id, a.started_at"
say '11. Queues and recent failures'
show 'select queue, ready, scheduled, running, succeeded, failed, cancelled from postrider.queue_status'
echo
show 'select id, tag, state, attempt, status_code, error_code, left(error, 60) as error from postrider.recent_failures order by id'
say '12. Check every result'
query "
create function pg_temp.expect(what text, holds boolean) returns text language sql
as \$\$ select case when holds then 'ok    ' else 'FAIL  ' end || what \$\$;
create temp view job as select * from postrider.job_status;
select pg_temp.expect('a GET succeeded and its answer is stored',
    exists (select from job where tag = 'get' and state = 'succeeded' and status_code = 200
            and convert_from(body, 'UTF8')::jsonb #>> '{args,hello}' = 'world'));
select pg_temp.expect('it was tried again until the API was up',
    (select count(*) filter (where error_code = 'connect') >= 1 and count(*) filter (where status_code = 200) = 1
     from postrider.attempts where job_id = (select id from job where tag = 'get')));
select pg_temp.expect('a POST sent its JSON',
    exists (select from job where tag = 'post' and state = 'succeeded'
            and convert_from(body, 'UTF8')::jsonb #>> '{json,customer}' = '7'));
select pg_temp.expect('user and password of the URL worked and are not shown',
    exists (select from job where tag = 'login' and state = 'succeeded' and url not like '%lovelace@%'));
select pg_temp.expect('a scheduled job ran when it was due',
    exists (select from job where tag = 'soon' and state = 'succeeded' and started_at >= run_at));
select pg_temp.expect('another is still scheduled', exists (select from job where tag = 'later' and state = 'scheduled'));
select pg_temp.expect('404 is a failure with its reason',
    exists (select from job where tag = 'missing' and state = 'failed' and status_code = 404
            and error_code = 'http_status'));
select pg_temp.expect('a slow call ended at its limit',
    exists (select from job where tag = 'slow' and state = 'failed' and error_code = 'timeout'));
select pg_temp.expect('a refused connection was tried twice and failed',
    exists (select from job where tag = 'refused' and state = 'failed' and attempt = 2 and error_code = 'connect'));
select pg_temp.expect('a validator passed, and a part of the JSON is the result',
    exists (select from job where tag = 'shaped' and state = 'succeeded' and jsonb_array_length(result) = 2));
select pg_temp.expect('another validator failed and names the place',
    exists (select from job where tag = 'misshaped' and state = 'failed' and error_code = 'validator'
            and error like '%slideshow.title%'));
select pg_temp.expect('two equal jobs made one call',
    (select count(*) = 2 and count(*) filter (where from_cache) = 1 and count(distinct result) = 1
     from job where tag = 'cached' and state = 'succeeded'));
select pg_temp.expect('a file was downloaded', exists (select from job where tag = 'file' and state = 'succeeded'));
select pg_temp.expect('two jobs are cancelled', (select count(*) = 2 from job where tag in ('abort', 'never')
    and state = 'cancelled'));
select pg_temp.expect('three operations registered, uploaded and welcomed a user',
    (select count(*) = 3 and bool_and(state = 'succeeded' and operation is not null) and max(result #>> '{}') filter (where name = 'welcome') = 'Welcome, ada!'
     from job where parent_id = (select id from job where tag = 'ada')));
select pg_temp.expect('an expired token was replaced within the attempt',
    (select count(*) filter (where a.error_code = 'token_expired') >= 1 and count(distinct a.attempt) = 1
     from postrider.attempts a join job j on j.id = a.job_id where j.operation = 'accounts.upload_avatar'));
select pg_temp.expect('four steps used earlier answers, and one was skipped',
    (select count(*) = 6 and bool_and(state = case name when 'again' then 'skipped' else 'succeeded' end)
     from job where parent_id = (select id from job where tag = 'grace')));
select pg_temp.expect('a batch of three failed with its second member, and the rest were cancelled',
    (select count(*) = 1 from job b join job m on m.id = b.failed_job_id where b.tag = 'three' and b.state = 'failed' and m.status_code = 404)
    and not exists (select from job m join job b on b.id = m.parent_id where b.tag = 'three' and m.state not in ('failed', 'cancelled', 'succeeded')));
select pg_temp.expect('three pages are one list', exists (select from job where tag = 'pages' and state = 'succeeded'
    and jsonb_array_length(result) = 95 and (select count(*) = 3 from postrider.pages p where p.job_id = job.id)));
select pg_temp.expect('six polite calls, never more than two at once',
    (select count(*) = 6 from job where tag = 'polite' and state = 'succeeded')
    and (with c as (select a.started_at, a.started_at + a.total_ms * interval '1 ms' as ended_at
                      from postrider.attempts a join postrider.jobs j on j.id = a.job_id where j.tag = 'polite')
         select max((select count(*) from c d where d.started_at <= c.started_at and d.ended_at > c.started_at)) <= 2 from c));
select pg_temp.expect('if one server is down, the next one answers on the same attempt',
    exists (select from job where tag = 'twin' and state = 'succeeded' and attempt = 1));
select pg_temp.expect('a token was sent', exists (select from job where tag = 'token' and state = 'succeeded'));
select pg_temp.expect('a job with a taken dedupe_key was not inserted', not exists (select from job where tag = 'token again'));
select pg_temp.expect('a schedule made a job for each tick', (select count(*) >= 2 and count(distinct run_at) = count(*)
    from job where tag = 'tick'));
select pg_temp.expect('queue_status agrees', (select q.scheduled = 1 and q.succeeded = n.succeeded and q.failed = n.failed
    from postrider.queue_status q,
         (select count(*) filter (where state = 'succeeded') as succeeded, count(*) filter (where state = 'failed') as failed
            from job where kind = 'request') n
   where q.queue = 'default'));
select pg_temp.expect('one worker is running', (select count(*) = 1 from postrider.worker_status where state = 'running'));
select pg_temp.expect('recent_failures has the failed ones', (select count(*) = 6 from postrider.recent_failures));
" >"$scratch/verdict"
if grep FAIL "$scratch/verdict"; then exit 1; fi
[[ $(stat -c %s "$scratch/files/demo/bytes.bin") == 50000 ]] || { echo 'demo: the file has not its 50000 bytes' >&2; exit 1; }
cat <<END
demo: all $(grep -c '^ok' "$scratch/verdict") results are as expected, after $SECONDS s

Next: .build/release/worker dev starts a playground. docs/quickstart.md shows the first steps.
END
