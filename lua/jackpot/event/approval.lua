local function append_approval() end
