-- Prolongs a lease that is still the caller's.
--
-- KEYS  1 lease
-- ARGV  1 fence  2 how long the lease lasts from now, ms
-- Gives 1 | 0 when the lease is another's or has run out
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
