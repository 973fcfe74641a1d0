-- Posts one transfer to each account of it that lives in this partition, or to none.
--
-- KEYS  1 buy-ins under way (hash)   then for each account: account (hash), transfers (hash), postings (stream)
-- ARGV  1 transfer
--       2 "+": a buy-in sets out, "-": it is back, "": neither   3 its field   4 ms
--       5 how many fields and values of the posting follow, then these, then for each account: its version seen,
--         its version now, its balance now (decimal text: chips never become a number here), the hash of its posting
-- Gives 1 | 0 when an account has moved on meanwhile, and nothing has changed.
local transfer, width = ARGV[1], tonumber(ARGV[5])
local accounts = (#KEYS - 1) / 3

local function of_account(n)
  return KEYS[3 * n - 1], KEYS[3 * n], KEYS[3 * n + 1], unpack(ARGV, 2 + width + 4 * n, 5 + width + 4 * n)
end

redis.call('HLEN', KEYS[1]) -- Each key is read before the first is written, so that a wrong type stops all of it.
for n = 1, accounts do
  local account, transfers, postings, seen = of_account(n)
  redis.call('HLEN', transfers)
  local last = redis.call('XREVRANGE', postings, '+', '-', 'COUNT', 1)[1]
  if (redis.call('HGET', account, 'v') or '0') ~= seen then return 0 end
  if (last and last[1] or '0-0') ~= seen .. '-0' then return redis.error_reply('BROKEN ' .. postings) end
end

for n = 1, accounts do
  local account, transfers, postings, _, version, balance, hash = of_account(n)
  local posting = {unpack(ARGV, 6, 5 + width)}
  posting[#posting + 1], posting[#posting + 2] = 'h', hash
  redis.call('XADD', postings, version .. '-0', unpack(posting))
  redis.call('HSET', account, 'v', version, 'b', balance, 'h', hash)
  redis.call('HSET', transfers, transfer, version)
end
if ARGV[2] == '+' then redis.call('HSET', KEYS[1], ARGV[3], ARGV[4]) end
if ARGV[2] == '-' then redis.call('HDEL', KEYS[1], ARGV[3]) end
return 1
