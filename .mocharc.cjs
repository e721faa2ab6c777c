const settings = require('./test/support/mocha-settings.cjs');

module.exports = settings([
  'services/**/*.test.ts',
  'operator/**/*.test.ts',
  'charts/**/*.test.ts',
  'test/*.test.ts',
  'test/conformance/**/*.test.ts',
  'test/behaviour/**/*.test.ts',
  'test/contract/**/*.test.ts',
  'test/e2e/**/*.test.ts',
]);
