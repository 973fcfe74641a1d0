-- Keeps the last signed head of the log of finished deals; an earlier one than before changes nothing.
--
-- KEYS  1 state of the log (hash)
-- ARGV  1 size  2 time, ms  3 head
-- Gives 1 | 0 when it was there already, or a later one
if tonumber(redis.call('HGET', KEYS[1], 'size') or '0') >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'size', ARGV[1], 'at', ARGV[2], 'head', ARGV[3])
return 1
