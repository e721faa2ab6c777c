const settings = require('./test/support/mocha-settings.cjs');

// In this order: the longest first, so that no processor waits for the last one at the end.
module.exports = settings([
  'test/e2e/console/*.test.ts',
  'test/contract/**/*.test.ts',
  'test/*.test.ts',
  'test/e2e/*.test.ts',
  'test/e2e/!(console)/**/*.test.ts',
  'test/conformance/**/*.test.ts',
  'test/behaviour/**/*.test.ts',
  'services/**/*.test.ts',
  'operator/**/*.test.ts',
  'charts/**/*.test.ts',
  'test/support/**/*.test.ts',
]);
