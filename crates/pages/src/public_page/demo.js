// The lines to copy name the host that the page came from.
"use strict";

for (const host of document.querySelectorAll("[data-host]")) host.textContent = location.origin;
