const settings = require('../support/mocha-settings.cjs');

module.exports = settings(['test/operator/**/*.test.ts']);
