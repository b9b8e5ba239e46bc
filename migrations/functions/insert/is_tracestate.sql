-- SPDX-License-Identifier: Apache-2.0
-- W3C Trace Context: at most 32 members key=value between commas. A value has printable ASCII without comma and equals
-- sign. Empty members are valid. Has no SET clause, so PostgreSQL inlines it.
create or replace function postrider_internal.is_tracestate(p_text text) returns boolean
language sql immutable parallel safe
return length(p_text) <= 4096 and cardinality(string_to_array(p_text, ',')) <= 32
  and p_text ~ E'^([ \\t]*([a-z0-9][a-z0-9_*/@-]*=[ -+\\-./-<>-~]+)?[ \\t]*(,|$))*$';
comment on function postrider_internal.is_tracestate(text) is
  'whether a text is a tracestate of W3C Trace Context; null for null';
