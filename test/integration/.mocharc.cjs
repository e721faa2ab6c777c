const settings = require('../support/mocha-settings.cjs');

module.exports = settings(['test/integration/**/*.test.ts'], {
  require: ['./test/integration/start-containers.ts'],
});
