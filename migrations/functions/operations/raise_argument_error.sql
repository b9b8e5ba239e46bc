-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.raise_argument_error(p_place postrider_internal.argument_place,
                                                                   p_name text, p_reason text) returns void
language plpgsql stable
as $$
begin
  perform postrider_internal.raise_column_error('jobs', 'arguments', format('%s %s', p_name, p_reason),
    format('It stands in %s of the operation; look at its spec in postrider.operations.',
           array_to_string(p_place.path, '.')));
end
$$;
comment on function postrider_internal.raise_argument_error(postrider_internal.argument_place, text, text) is
  'raises PR001 for an argument that does not fit its place in the operation';
