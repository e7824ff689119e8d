-- One ledger, one store: the UUID of the Redis that plays with this ledger, also in that Redis and in
-- <data_dir>/store.id. '' until the first start that knows of it. Every transaction that writes checks it.
ALTER TABLE ledger ADD COLUMN store_id TEXT NOT NULL DEFAULT '';

-- Status as of the last event applied, so that every instance tells what is refused, also of streams that others read.
ALTER TABLE jackpots ADD COLUMN status TEXT NOT NULL DEFAULT '';
ALTER TABLE coupons ADD COLUMN status TEXT NOT NULL DEFAULT '';
ALTER TABLE rooms ADD COLUMN status TEXT NOT NULL DEFAULT '';
UPDATE jackpots SET status = 'open' WHERE books LIKE '%"status":"open"%';
UPDATE jackpots SET status = 'paused' WHERE books LIKE '%"status":"paused"%';
UPDATE jackpots SET status = 'suspended' WHERE books LIKE '%"status":"suspended"%';
UPDATE jackpots SET status = 'closed' WHERE books LIKE '%"status":"closed"%';
UPDATE coupons SET status = 'open' WHERE books LIKE '%"status":"open"%';
UPDATE coupons SET status = 'suspended' WHERE books LIKE '%"status":"suspended"%';
UPDATE coupons SET status = 'ended' WHERE books LIKE '%"status":"ended"%';
UPDATE rooms SET status = 'open' WHERE books LIKE '%"status":"open"%';
UPDATE rooms SET status = 'suspended' WHERE books LIKE '%"status":"suspended"%';
