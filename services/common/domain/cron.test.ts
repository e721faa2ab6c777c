import { expect } from 'chai';
import fc from 'fast-check';
import { type Cron, parseCron } from './cron.ts';

function cron(text: string): Cron {
  const parsed = parseCron(text);
  if ('fault' in parsed) throw new Error(parsed.fault);
  return parsed;
}
const next = (text: string, after: string) => cron(text).nextAfter(new Date(after))?.toISOString().slice(0, 16);
const fault = (text: string) => {
  const parsed = parseCron(text);
  return 'fault' in parsed ? parsed.fault : null;
};

describe('cron', () => {
  const CASES: readonly [string, string, string][] = [
    ['* * * * *', '2026-11-22T12:00:30Z', '2026-11-22T12:01'],
    ['* * * * *', '2026-11-22T12:00:00Z', '2026-11-22T12:01'],
    ['0 3 * * *', '2026-11-22T03:00:00Z', '2026-11-23T03:00'],
    ['0 4 * * 0', '2026-11-22T04:00:00Z', '2026-11-29T04:00'],
    ['0 4 * * 7', '2026-11-20T00:00:00Z', '2026-11-22T04:00'],
    ['0 4 * * SUN,sat', '2026-11-20T00:00:00Z', '2026-11-21T04:00'],
    ['*/15 9-17 * * MON-FRI', '2026-11-20T17:45:00Z', '2026-11-23T09:00'],
    ['5/20 * * * *', '2026-11-22T12:05:00Z', '2026-11-22T12:25'],
    ['0 0 29 2 *', '2026-11-22T00:00:00Z', '2028-02-29T00:00'],
    ['0 0 31 * *', '2026-11-01T00:00:00Z', '2026-12-31T00:00'],
    ['0 0 1 JAN *', '2026-01-01T00:00:00Z', '2027-01-01T00:00'],
    // Both days restricted: either is enough.
    ['0 0 13 * FRI', '2026-11-13T00:00:00Z', '2026-11-20T00:00'],
    ['0 0 13 * FRI', '2026-12-11T00:00:00Z', '2026-12-13T00:00'],
    // A step from everything is no restriction.
    ['0 0 13 * */1', '2026-11-13T00:00:00Z', '2026-12-13T00:00'],
    ['0 0 * * 5-7', '2026-11-22T00:00:00Z', '2026-11-27T00:00'],
  ];
  for (const [text, after, expected] of CASES) {
    it(`${text} after ${after} is ${expected}`, () => expect(next(text, after)).to.equal(expected));
  }

  it('reports what is wrong with an invalid schedule', () => {
    expect(fault('0 3 * *')).to.equal('it has 4 fields, cron has five');
    expect(fault('60 * * * *')).to.equal('"60" is not a valid minute');
    expect(fault('* 24 * * *')).to.equal('"24" is not a valid hour');
    expect(fault('* * 0 * *')).to.equal('"0" is not a valid day of month');
    expect(fault('* * * FOO *')).to.equal('"FOO" is not a valid month');
    expect(fault('* * * * 8')).to.equal('"8" is not a valid day of week');
    expect(fault('30-10 * * * *')).to.equal('"30-10" ends before it begins');
    expect(fault('*/0 * * * *')).to.equal('"*/0" is not a valid minute');
    expect(fault('1,,2 * * * *')).to.equal('"" is not a valid minute');
    expect(fault('0 0 30 2 *')).to.equal('no day is ever like that');
    for (const text of ['-1 * * * *', '1.5 * * * *', '1-2-3 * * * *', '@daily * * * *', '']) {
      expect(fault(text), text).to.be.a('string');
    }
  });

  /** A field, and the values that it must stand for: made apart from the reader. */
  const field = (from: number, to: number) => {
    const value = fc.integer({ min: from, max: to });
    const every = (begin: number, end: number, step: number) =>
      Array.from({ length: end - begin + 1 }, (_, at) => begin + at).filter((each) => (each - begin) % step === 0);
    const part = fc.oneof(
      fc.constant({ text: '*', values: every(from, to, 1) }),
      fc.integer({ min: 1, max: 20 }).map((step) => ({ text: `*/${step}`, values: every(from, to, step) })),
      value.map((one) => ({ text: String(one), values: [one] })),
      fc.tuple(value, value, fc.integer({ min: 1, max: 9 })).map(([one, other, step]) => {
        const [begin, end] = [Math.min(one, other), Math.max(one, other)];
        return { text: `${begin}-${end}/${step}`, values: every(begin, end, step) };
      }),
    );
    return fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => ({
      text: parts.map(({ text }) => text).join(','),
      values: new Set(parts.flatMap(({ values }) => values)),
      everything: parts[0]?.text.startsWith('*') === true,
    }));
  };
  const schedule = fc.tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6));
  const time = fc.date({
    min: new Date('2020-01-01T00:00:00Z'),
    max: new Date('2040-01-01T00:00:00Z'),
    noInvalidDate: true,
  });

  it('finds the first matching minute after the time', () => {
    fc.assert(
      fc.property(schedule, time, ([minute, hour, day, month, weekday], after) => {
        const names = (at: Date): boolean => {
          const byDay = day.values.has(at.getUTCDate());
          const byWeekday = weekday.values.has(at.getUTCDay());
          const either = !day.everything && !weekday.everything;
          return (
            minute.values.has(at.getUTCMinutes()) &&
            hour.values.has(at.getUTCHours()) &&
            month.values.has(at.getUTCMonth() + 1) &&
            (either ? byDay || byWeekday : byDay && byWeekday)
          );
        };
        const text = [minute, hour, day, month, weekday].map((each) => each.text).join(' ');
        // For example 31 February.
        fc.pre(fault(text) === null);
        const found = cron(text).nextAfter(after);
        if (found === null) throw new Error('none');
        expect(found.getTime()).to.be.greaterThan(after.getTime());
        expect([found.getUTCSeconds(), found.getUTCMilliseconds()]).to.deep.equal([0, 0]);
        expect(names(found)).to.equal(true);
        // By the minute, as far as a test may look.
        const begin = Math.floor(after.getTime() / 60_000) * 60_000 + 60_000;
        for (let at = Math.max(begin, found.getTime() - 3_000 * 60_000); at < found.getTime(); at += 60_000) {
          if (names(new Date(at))) throw new Error(`${new Date(at).toISOString()} was passed over`);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('never throws for any text', () => {
    fc.assert(fc.property(fc.string({ maxLength: 40 }), (text) => void parseCron(text)));
    const parts = fc.array(fc.stringMatching(/^[*0-9,/A-Z-]{1,8}$/), { minLength: 5, maxLength: 5 });
    fc.assert(fc.property(parts, (fields) => void parseCron(fields.join(' '))));
  });
});
