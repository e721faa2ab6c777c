const settings = require('../support/mocha-settings.cjs');

module.exports = settings(['test/chart/**/*.test.ts']);
