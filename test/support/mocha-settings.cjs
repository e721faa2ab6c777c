/** Settings of a suite for mocha. Mocha would add the suite's files to those that the command line names; these run alone. */
module.exports = (files, overrides = {}) => ({
  spec: process.argv.slice(2).some((argument) => argument.endsWith('.test.ts')) ? [] : files,
  reporter: './test/support/totals-reporter.cjs',
  timeout: 60_000,
  forbidOnly: true,
  exit: true,
  ...overrides,
});
