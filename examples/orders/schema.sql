CREATE TABLE orders (
  id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  client_id  text        NOT NULL,
  product    text        NOT NULL,
  quantity   integer     NOT NULL CHECK (quantity > 0),
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE mails (
  client_id   text NOT NULL,
  request_key text NOT NULL,
  text        text NOT NULL,
  PRIMARY KEY (client_id, request_key)
);
