-- Notes how far a table is archived and verified; it never goes back.
--
-- KEYS  1 marks of the partition (hash)
-- ARGV  1 table  2 version  3 number of the deal that ended there
-- Gives 1 | 0 when it was noted as far already
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known and tonumber(string.match(known, '^%d+')) >= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
return 1
