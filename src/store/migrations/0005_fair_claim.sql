-- What waits, by source: a claim takes a share of each, so that the flood of one cannot starve another. What is
-- claimed is kept apart; it is as small as the number of workers, and holds the leases that may expire.
DROP INDEX hookgate.events_waiting;
CREATE INDEX events_waiting ON hookgate.events (source, due_at, id) WHERE status = 'pending' AND claim_token IS NULL;
CREATE INDEX events_claimed ON hookgate.events (due_at, id) WHERE status = 'pending' AND claim_token IS NOT NULL;
