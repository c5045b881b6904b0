import { ADMITTED, FULL_RETRY_MS } from './peer-limits.ts';
import { redisScript } from './redis-script.ts';
import { SECOND_MS, WINDOW_MS } from './window-log.ts';
import { FAULTS_OF_CALLER_MAX, FAULTS_TO_OPEN, OPEN_MS, TRIALS_MAX } from './circuit-breaker.ts';

/** A peer that nothing uses for this time has no state. */
const KEPT_MS = 3_600_000;
/** The calls that a replica has in flight count for this time after its last message. */
const LEASE_MS = 5000;

/**
 * A peer is one hash. `s<second>`: the count of that second and the time of the last. `f`, `a:<caller>`: the faults in a
 * row, without a caller and of each. `v`: a probe found the peer down. `o`: when the circuit opened. `p:<caller>`: when a
 * caller tried it; `t`: whose trial was the last to fail. `i:<replica>`: what a replica has in flight, and until when
 * that counts. `d`: what is added to the time, so that a clock that is set back does not stop the seconds.
 *
 * The time is that of Redis (-1), because it is one clock for all replicas; theirs differ.
 */
const COMMON = `
local now = tonumber(ARGV[1])
if now < 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local replica = ARGV[2]
local function open(key)
  local flat = redis.call('HGETALL', key)
  local c = { key = key, used = 0, seconds = {}, others = 0, latest = 0, values = {} }
  for i = 1, #flat, 2 do
    if string.match(flat[i], '^s%d+$') then
      local count, last = string.match(flat[i + 1], '^(%d+):(%d+)$')
      c.seconds[#c.seconds + 1] = { name = flat[i], count = tonumber(count), last = tonumber(last) }
      c.latest = math.max(c.latest, tonumber(last))
    else
      c.values[flat[i]] = flat[i + 1]
    end
  end
  c.t = now + tonumber(c.values.d or 0)
  if c.t < c.latest then
    redis.call('HSET', key, 'd', c.latest - now)
    c.t = c.latest
  end
  local left = {}
  for _, one in ipairs(c.seconds) do
    if one.last + ${WINDOW_MS} <= c.t then
      redis.call('HDEL', key, one.name)
    else
      left[#left + 1] = one
      c.used = c.used + one.count
    end
  end
  c.seconds = left
  for name, value in pairs(c.values) do
    if string.sub(name, 1, 2) == 'i:' and name ~= 'i:' .. replica then
      local count, till = string.match(value, '^(%d+):(%d+)$')
      if tonumber(till) > c.t then
        c.others = c.others + tonumber(count)
      else
        redis.call('HDEL', key, name)
      end
    end
  end
  return c
end
local function counted(c)
  c.faults = tonumber(c.values.f or 0)
  for name, value in pairs(c.values) do
    if string.sub(name, 1, 2) == 'a:' then
      c.faults = c.faults + math.min(tonumber(value), ${FAULTS_OF_CALLER_MAX})
    end
  end
  return c
end
local function put(c, name, value)
  redis.call('HSET', c.key, name, value)
  c.values[name] = tostring(value)
end
local function drop(c, prefix)
  for name in pairs(c.values) do
    if string.sub(name, 1, #prefix) == prefix then
      redis.call('HDEL', c.key, name)
      c.values[name] = nil
    end
  end
end
local function close(c)
  for _, prefix in ipairs({ 'f', 'a:', 'v', 'o', 'p:', 't' }) do
    drop(c, prefix)
  end
end
local function reopen(c)
  put(c, 'o', c.t)
  drop(c, 't')
end
local function add(c, count, at)
  local name = 's' .. math.floor(at / ${SECOND_MS})
  local second
  for _, one in ipairs(c.seconds) do
    if one.name == name then
      second = one
    end
  end
  if not second then
    second = { name = name, count = 0, last = at }
    c.seconds[#c.seconds + 1] = second
  end
  second.count, second.last = second.count + count, math.max(second.last, at)
  c.used = c.used + count
  redis.call('HSET', c.key, name, second.count .. ':' .. second.last)
end
local function openedAgo(c)
  return math.max(0, c.t - tonumber(c.values.o or 0))
end
local function keep(c)
  redis.call('PEXPIRE', c.key, ${KEPT_MS})
end
local function inUse(c, count)
  if count >= 0 then
    redis.call('HSET', c.key, 'i:' .. replica, count .. ':' .. (c.t + ${LEASE_MS}))
  end
end
`;

/**
 * Takes one call of a peer. ARGV: time, replica, limit of a minute, whether to try a peer that is down, in use, limit
 * in flight, caller.
 */
export const ADMIT = redisScript(`${COMMON}
local c = counted(open(KEYS[1]))
local limit, anyway, used, most = tonumber(ARGV[3]), ARGV[4] == '1', tonumber(ARGV[5]), tonumber(ARGV[6])
local function answer(code, wait)
  return { code, wait, c.used, c.faults, openedAgo(c) }
end
local trial = c.faults >= ${FAULTS_TO_OPEN}
if trial then
  local trials, isTried = 0, false
  for name, at in pairs(c.values) do
    if string.sub(name, 1, 2) == 'p:' and c.t - tonumber(at) < ${OPEN_MS} then
      trials = trials + 1
      isTried = isTried or name == 'p:' .. ARGV[7]
    end
  end
  if isTried or trials >= ${TRIALS_MAX} or (not anyway and openedAgo(c) < ${OPEN_MS}) then
    return answer(${ADMITTED.CIRCUIT}, 0)
  end
end
if used >= 0 and c.others + used > most then
  return answer(${ADMITTED.LIMIT}, ${FULL_RETRY_MS})
end
if c.used >= limit then
  table.sort(c.seconds, function(a, b) return a.last < b.last end)
  local excess = c.used - limit + 1
  for _, one in ipairs(c.seconds) do
    excess = excess - one.count
    if excess <= 0 then
      return answer(${ADMITTED.LIMIT}, one.last + ${WINDOW_MS} - c.t)
    end
  end
end
add(c, 1, c.t)
if trial then
  put(c, 'p:' .. ARGV[7], c.t)
end
inUse(c, used)
keep(c)
return answer(trial and ${ADMITTED.TRIAL} or ${ADMITTED.YES}, 0)
`);

/** Tells what a call or a probe has shown, or what is in flight. ARGV: time, replica, what, in use, caller. */
export const TELL = redisScript(`${COMMON}
local c = counted(open(KEYS[1]))
local what, caller = ARGV[3], ARGV[5]
local isClosed = c.faults < ${FAULTS_TO_OPEN}
inUse(c, tonumber(ARGV[4]))
if what == 'worked' then
  close(c)
elseif what == 'undecided' then
  redis.call('HDEL', c.key, 'p:' .. caller)
elseif what == 'failed' then
  redis.call('HDEL', c.key, 'p:' .. caller)
  if caller == '' then
    put(c, 'f', tonumber(c.values.f or 0) + 1)
  elseif isClosed then
    put(c, 'a:' .. caller, tonumber(c.values['a:' .. caller] or 0) + 1)
  end
  if counted(c).faults >= ${FAULTS_TO_OPEN} then
    if isClosed or caller == '' or c.values.v or (c.values.t and c.values.t ~= caller) then
      reopen(c)
    else
      put(c, 't', caller)
    end
  end
elseif what == 'down' then
  put(c, 'v', 1)
  put(c, 'f', math.max(tonumber(c.values.f or 0), ${FAULTS_TO_OPEN}))
  if isClosed then
    reopen(c)
  end
elseif what == 'up' then
  drop(c, 'v')
  drop(c, 'f')
  if counted(c).faults == 0 then
    close(c)
  end
end
keep(c)
return { counted(c).faults, openedAgo(c) }
`);

/**
 * Renews a replica and adds what it took without Redis. KEYS: replicas, epoch, peers. ARGV: time, replica, whether
 * it joins the others, the epoch to begin if there is none, and for each peer [in use, [[age, count]…],
 * faults, milliseconds since the opening].
 */
export const RENEW = redisScript(`${COMMON}
redis.call('SET', KEYS[2], ARGV[4], 'NX')
if ARGV[3] == '1' then
  redis.call('ZADD', KEYS[1], now, replica)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${LEASE_MS})
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ${LEASE_MS}, '+inf')
redis.call('PEXPIRE', KEYS[1], ${KEPT_MS})
local peers = cjson.decode(ARGV[5])
local known = {}
for i = 3, #KEYS do
  local c = counted(open(KEYS[i]))
  local own = peers[i - 2]
  inUse(c, own[1])
  if own[3] >= ${FAULTS_TO_OPEN} and own[3] > c.faults then
    put(c, 'f', own[3])
    put(c, 'o', c.t - own[4])
    counted(c)
  end
  for _, taken in ipairs(own[2]) do
    if taken[1] < ${WINDOW_MS} then
      add(c, taken[2], c.t - taken[1])
    end
  end
  if own[1] > 0 or #own[2] > 0 or own[3] > 0 then
    keep(c)
  end
  known[i - 2] = { c.used, c.faults, openedAgo(c) }
end
return { redis.call('GET', KEYS[2]), redis.call('ZCARD', KEYS[1]), known }
`);

/** A replica that stops is forgotten. KEYS: replicas, peers. ARGV: time, replica. */
export const LEAVE = redisScript(`
redis.call('ZREM', KEYS[1], ARGV[2])
for i = 2, #KEYS do
  redis.call('HDEL', KEYS[i], 'i:' .. ARGV[2])
end
return 0
`);
