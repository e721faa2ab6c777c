const { relative } = require('node:path');
const { reporters, Runner } = require('mocha');

/**
 * The spec reporter, closed by plain lines that CI reads: "failed in FILE: TITLE" for each failure, then the totals. FILE is
 * relative to the working directory, and "unknown" where mocha does not tell it.
 */
module.exports = class TotalsReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const failed = [];
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test) => {
      const file = test.file ?? test.parent?.file;
      const title = test.fullTitle().replaceAll(/\s+/g, ' ');
      failed.push(`failed in ${file ? relative(process.cwd(), file) : 'unknown'}: ${title}\n`);
    });
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      process.stdout.write(`${failed.join('')}${passes} passed, ${failures} failed, ${pending} skipped\n`);
    });
  }
};
