-- SPDX-License-Identifier: Apache-2.0
-- What: credentials.client_auth; refusals of a token endpoint that are not final are counted.
-- Why:  some token endpoints want client_id and client_secret in the form. One odd answer of a token endpoint logged the credential off.
-- Cost: none, the columns have constant defaults.
-- breaking: no

alter table postrider.credentials add column client_auth text not null default 'basic';
comment on column postrider.credentials.client_auth is
  'how the client says who it is at token_url: basic, as Basic auth; post, client_id and client_secret in the form; none, client_id alone';
comment on column postrider.credentials.place is
  'where a call carries the secret: {"header": name, "prefix": text}, {"query": name}, {"form": name} or {"json": key}, or a list of them, of which the first that fits the request is used; null: Authorization';
alter table postrider.refreshes
  add column refusals int not null default 0,            -- in a row, none of them final
  add column refused_since timestamptz;                  -- when the first of them came
