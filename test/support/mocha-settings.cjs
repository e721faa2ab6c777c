const nodeModule = require('node:module');
const { join } = require('node:path');

// Found compiled, the code under test loads in half the time: here, in worker threads, and in processes that tests start.
process.env.NODE_COMPILE_CACHE ??= join(__dirname, '../../node_modules/.cache/engram-tests');
nodeModule.enableCompileCache(process.env.NODE_COMPILE_CACHE);

/** Settings of a suite for mocha. Mocha would add the suite's files to those that the command line names; these run alone. */
module.exports = (files, overrides = {}) => ({
  spec: process.argv.slice(2).some((argument) => argument.endsWith('.test.ts')) ? [] : files,
  reporter: './test/support/totals-reporter.cjs',
  // What takes this long never ends: no test depends on the speed of the machine.
  timeout: 180_000,
  forbidOnly: true,
  exit: true,
  ...overrides,
});
