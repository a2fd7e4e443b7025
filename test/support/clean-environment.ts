// Tests take nothing from the machine that they run on: an operator's settings would make other servers of theirs. A
// test sets the variables that it needs itself, for the processes that it starts. GRANARY_TEST_* is for the tests
// themselves.
for (const name of Object.keys(process.env)) if (/^GRANARY_(?!TEST_)/.test(name)) delete process.env[name];
