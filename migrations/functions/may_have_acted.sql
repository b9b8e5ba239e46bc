-- SPDX-License-Identifier: Apache-2.0
-- Failures of the network end an at_most_once job as failed only if nothing was sent; after the others an answer tells, or the
-- bytes that left. By 408, 425 and 429 a server says that it has not acted, unless the job counts them as a success.
create or replace function postrider.may_have_acted(p_result postrider.results) returns boolean
language sql stable
as $$
  select case p_result.state
    when 'u' then true
    when 'f' then case
      when p_result.status_code is not null then
        (p_result.status_code in (408, 425, 429) and p_result.error_code in ('http_status', 'http_429')) is not true
      else coalesce(p_result.bytes_sent, 0) > 0
           and (select e.class <> 'network' from postrider.error_codes e where e.code = p_result.error_code) end
    else false end
$$;
comment on function postrider.may_have_acted(postrider.results) is
  'private: whether the server may have acted on the request of an at_most_once job that did not succeed: then only a person''s word sends it again';
