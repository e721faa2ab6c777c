// The spec reporter, closed by one plain line with the totals that CI reads.
const { reporters, Runner } = require('mocha');

module.exports = class TotalsReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      process.stdout.write(`${passes} passed, ${failures} failed, ${pending} skipped\n`);
    });
  }
};
