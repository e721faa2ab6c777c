/**
 * Whether long cases run whole. `npm run test:all` sets it, and so does CI; `npm test` takes a part of each, which stays the
 * same from run to run.
 */
const IS_WHOLE = process.env['ENGRAM_TEST_ALL'] !== undefined;

/** How often to repeat a case whose inputs are random. */
export function repeats(whole: number, part: number): number {
  return IS_WHOLE ? whole : part;
}

/** Every `step`-th of the cases, from `first` on: callers that shift `first` take each case in some of their combinations. */
export function partOf<Case>(cases: readonly Case[], step: number, first = 0): readonly Case[] {
  return IS_WHOLE ? cases : cases.filter((_, at) => (at + first) % step === 0);
}

// Of the file that calls them: a process that runs several files has an `it` for each.

/** `it`, or a skipped one where only a part runs. */
export function itWhenWhole(title: string, test: Mocha.AsyncFunc): Mocha.Test {
  return (IS_WHOLE ? it : it.skip)(title, test);
}

/** `describe`, or a skipped one, whose hooks do not run, where only a part runs. */
export function describeWhenWhole(title: string, tests: (this: Mocha.Suite) => void): void {
  (IS_WHOLE ? describe : describe.skip)(title, tests);
}
