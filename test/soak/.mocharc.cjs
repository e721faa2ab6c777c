const settings = require('../support/mocha-settings.cjs');

module.exports = settings(['test/soak/**/*.test.ts'], {
  require: ['./test/integration/start-containers.ts'],
  timeout: 1_800_000,
});
