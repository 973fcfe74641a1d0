-- Puts keys that were written afresh in the place of the live ones of their slot.
--
-- KEYS  1 hold   then pairs: the fresh key, the live key
-- ARGV  1 who holds the projections
-- Gives how many live keys there are now | -1 when the hold is lost, and nothing has changed
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
local present = 0
for place = 2, #KEYS, 2 do
  if redis.call('EXISTS', KEYS[place]) == 1 then
    redis.call('RENAME', KEYS[place], KEYS[place + 1])
    present = present + 1
  else
    redis.call('DEL', KEYS[place + 1])
  end
end
return present
