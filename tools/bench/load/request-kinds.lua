-- Makes wrk send the requests of `request-kinds.ts`: wrk … -s request-kinds.lua URL -- TOKEN FIRST FIRST_ID STORED TEMPLATE…
-- FIRST and STORED are the members of `Ids`. Each template has five arguments: METHOD PATH BODY IDS BATCH.
-- If BATCH is not 0, the body is an array of that many plants.

local count, templates = -1, {}
local read, write, first, first_id, stored

-- LuaJIT's numbers are doubles, so ids beyond 2^53 are built as strings.
local ids = {
  ["sequential"] = function(count) return string.format("%.0f", first + count) end,
  ["time-ordered"] = function(count)
    return string.format("%.0f", os.time() * 1e6 + (first + count) % 1e6)
  end,
  ["random"] = function()
    return string.format("%.0f%09d", math.random(1, 9223372035), math.random(0, 999999999))
  end,
  ["random-53-bit"] = function()
    return string.format("%.0f", math.random(1, 9007198) * 1e9 + math.random(0, 999999999))
  end,
  ["stored"] = function() return string.format("%.0f", first_id + math.random(0, stored - 1)) end,
}

function init(args)
  read = { ["Authorization"] = "Bearer " .. args[1] }
  write = { ["Authorization"] = read["Authorization"], ["Content-Type"] = "application/json" }
  first, first_id, stored = tonumber(args[2]), tonumber(args[3]), tonumber(args[4])
  for at = 5, #args, 5 do
    templates[#templates + 1] = {
      method = args[at],
      path = args[at + 1],
      body = args[at + 2],
      id = ids[args[at + 3]],
      batch = tonumber(args[at + 4]),
    }
  end
  -- Gives runs that start in the same second different ids.
  math.randomseed(os.time() + first)
end

function request()
  count = count + 1
  local template = templates[count % #templates + 1]
  if template.batch > 0 then return formatBatch(template) end
  local id = template.id(count)
  local path = template.path:gsub("ID", id)
  if template.body == "" then return wrk.format(template.method, path, read) end
  local body = template.body:gsub("ID", id)
  return wrk.format(template.method, path, write, body)
end

function formatBatch(template)
  local plants = {}
  for index = 1, template.batch do
    local id = template.id(count * template.batch + index - 1)
    plants[index] = template.body:gsub("ID", id)
  end
  return wrk.format(template.method, template.path, write, "[" .. table.concat(plants, ",") .. "]")
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"failed":%d,"p50":%d,"p99":%d,"max":%d}\n',
    summary.requests, summary.duration,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency.max))
end
