-- SPDX-License-Identifier: Apache-2.0
-- The effect of a good answer to a page on its job. n: the next page is fetched. s: this was the last page, and result
-- holds all items. f: failed. `page` is the row to store if the lease still holds.
--
-- An empty list ends the pages, even on the first page. A missing list is no_data on the first page. After pages with a
-- list it is no_more_data: the list is cut off, and the job must not look complete.
--
-- A page with the same items as the page before is not stored, and retry fetches it again.
--
-- p_job: as page_job returns it. A block catches errors that depend on the bytes of the answer, as in judge_answer.
create or replace function postrider_internal.page_turn(
  p_job postrider.jobs, p_service postrider.services, p_status int, p_headers bytea, p_body bytea,
  inout verdict "char", inout code text, inout error text, inout result jsonb, p_encoding text,
  p_landed text, out page postrider_internal.fetched_pages)
language plpgsql stable
as $$
declare
  v_last postrider_internal.fetched_pages;
  v_spec jsonb := p_job.paginate;
  v_next record;
  v_is_repeated boolean;
begin
  select * into v_last from postrider_internal.fetched_pages p where p.job_id = p_job.id order by p.page desc limit 1;
  page.page := coalesce(v_last.page, 0) + 1;
  begin
    if verdict = 'f' and code = 'no_data' and page.page > 1 then
      if jsonb_path_query_first(postrider_internal.answer_text(p_body, p_encoding)::jsonb, p_job.extract::jsonpath,
                                '{}', true) = 'null' then
        -- Some servers write an empty list in this way.
        verdict := 's';
        result := '[]';
      else
        code := 'no_more_data';
        error := 'this page has no list, unlike the pages before; their items are in postrider.pages; retry fetches this page again';
      end if;
    end if;
    if verdict <> 's' then
      error := format('%s (page %s)', error, page.page);
      page := null;
      return;
    end if;

    page.job_id := p_job.id;
    page.url := postrider_internal.url_query(
      postrider_internal.url_without_login(postrider_internal.job_url(p_job.url, p_job.use_cdn, p_service)),
      p_job.query);
    page.status_code := p_status;
    page.items := result;
    page.count := jsonb_array_length(result);
    page.bytes := coalesce(v_last.bytes, 0) + pg_column_size(result);
    page.total := coalesce(v_last.total, 0) + page.count;
    page.bound := coalesce(v_last.bound, (v_spec ->> 'max_pages')::int, 1000);
    page.is_stuck := false;
    page.fetched_at := clock_timestamp();

    v_is_repeated := page.count > 0 and coalesce(page.count = v_last.count and page.items = v_last.items, false);
    code := null;
    error := null;
    if v_is_repeated then
      code := 'pagination_loop';
      error := format('the page has the same items as page %s; they are left out', v_last.page);
      page.items := '[]';
    elsif page.count > 0 and page.count >= coalesce((v_spec ->> 'size')::int, 0) then
      v_next := postrider_internal.page_next(p_job, p_service, v_last, page.count, p_headers, p_body, p_encoding,
                                             p_landed);
      page.next := v_next.next;
      page.cursor := v_next.cursor;
      page.target := v_next.target;
      code := v_next.code;
      error := v_next.error;
      if code is null and page.next is not null and v_spec ->> 'style' in ('cursor', 'link') and (
           page.next in (page.url, v_spec ->> 'start',
             (select p.url from postrider_internal.fetched_pages p
              where p.job_id = p_job.id and p.page = 1 and v_spec ->> 'style' = 'link'))
           or exists (select from postrider_internal.fetched_pages p
                       where p.job_id = p_job.id and md5(p.next) = md5(page.next) and p.next = page.next)) then
        code := 'pagination_loop';
        error := format('the next page was fetched before: %s',
          case v_spec ->> 'style' when 'cursor' then 'the server sent its cursor before' else 'its link was called before' end);
      end if;
    end if;
    page.is_stuck := code is not null;
    if code is null and page.bytes > 67108864 then
      code := 'too_large';
      error := format('the %s items so far are larger than 64 MiB as jsonb; extract a part of each, or ask for fewer',
                      page.total);
      page.is_stuck := true;
    elsif code is null and page.next is not null and page.page >= page.bound
          and v_spec ->> 'on_limit' is distinct from 'stop' then
      code := 'page_limit';
      error := format('the list has more than %s, the limit of max_pages; retry fetches further pages',
        case page.page when 1 then '1 page' else format('%s pages', page.page) end);
    end if;

    if code is null and p_job.require_data and page.next is null and page.total = 0 then
      code := 'no_data';
      error := 'no page has an item, but the job has require_data';
      page.is_stuck := true;
    end if;

    verdict := case when code is not null then 'f' when page.next is null or page.page >= page.bound then 's'
      else 'n' end;
    -- If only the reference to the next page fails, the fetched items are still the result.
    result := case when verdict = 's' or verdict = 'f' and code <> 'too_large' then case when page.page = 1
      then page.items else (
      select jsonb_agg(i.item order by i.page, i.place)
        from (select p.page, e.place, e.item
                from postrider_internal.fetched_pages p cross
                  join jsonb_array_elements(p.items) with ordinality as e(item, place)
               where p.job_id = p_job.id
              union all
              select page.page, e.place, e.item
                from jsonb_array_elements(page.items) with ordinality as e(item, place)) i) end end;
    if verdict = 'f' then
      error := format('%s (page %s)', error, page.page);
    end if;
    if v_is_repeated then
      page := null;
    end if;
    return;
  exception when others then
    if postrider_internal.is_transient_error(sqlstate) then
      raise;
    end if;
    verdict := 'f';
    result := null;
    code := 'no_data';
    error := format('paginate''s paths cannot be applied to the answer (page %s)', coalesce(v_last.page, 0) + 1);
    page := null;
  end;
end
$$;
comment on function postrider_internal.page_turn(
  postrider.jobs, postrider.services, int, bytea, bytea, "char", text, text, jsonb, text, text) is
  'the effect of a page on its job: n next page, s last with all items, f failed; and the row to store';
