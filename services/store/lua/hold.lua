-- Holds the projections of a slot, or goes on holding them.
--
-- KEYS  1 hold   ARGV  1 who holds them   2 for how long, ms; "0": let go
-- Gives 1 | 0 when another holds them
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return 1
