// Tests take nothing from the machine that they run on: an operator's settings would make other servers of theirs. What
// a test wants set it sets itself, for the processes that it starts.
for (const name of Object.keys(process.env)) if (name.startsWith('GRANARY_')) delete process.env[name];
