-- Answers that a handler gave to a request, said again whenever the request comes again. An answer lives as long as
-- the event's key.
CREATE TABLE hookgate.answers (
  event        bigint   NOT NULL,  -- events.id
  status       smallint NOT NULL,  -- HTTP
  content_type text     NOT NULL,
  body         bytea    COMPRESSION lz4 NOT NULL,
  CONSTRAINT answers_pkey PRIMARY KEY (event)
);
