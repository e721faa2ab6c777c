import { expect } from 'chai';
import { anchorBelow, headingTime, isDayLine } from './heading-dates.ts';

describe('dates of headings', () => {
  const named = (...headings: string[]) => headingTime(headings)?.name ?? null;

  it('are the time of the text below them', () => {
    expect(named('Diary', '2021')).to.equal('2021');
    expect(named('Diary', 'March 2025')).to.equal('2025-03');
    expect(named('Team meeting 2025-06-03')).to.equal('2025-06-03');
    expect(named('Montag, 3. Juni 2024', 'Einkauf')).to.equal('2024-06-03');
    expect(named('2025', 'März', 'Arbeit')).to.equal('2025-03');
    expect(named('2025', 'January 3')).to.equal('2025-01-03');
    expect(named('Garden log 2026', '30 May')).to.equal('2026-05-30');
    expect(named('Garden log 2026', 'June')).to.equal('2026-06');
    expect(named('Garden log 2026', 'Tools')).to.equal(null);
  });

  it('are the day next to the time of writing when a day without a year is all that a heading says', () => {
    const near = (heading: string) => headingTime([heading], new Date('2026-11-29T10:00:00Z'))?.name ?? null;
    expect(near('Mon 6 Apr')).to.equal('2026-04-06');
    expect(near('Montag, 6. April')).to.equal('2026-04-06');
    expect(near('6 Apr - Lyon')).to.equal(null);
    expect(['Tue 7 Apr 2026:', 'April 6'].map(isDayLine)).to.deep.equal([true, true]);
    expect(['Sat', '3 days', '2026', 'Read 6 Apr'].map(isDayLine)).to.deep.equal([false, false, false, false]);
  });

  it('are none where a heading only mentions a year', () => {
    expect(named('2017 NCAA Division I Tournament')).to.equal(null);
    expect(named('The war of 1812', 'Causes')).to.equal(null);
    expect(named('March of the Penguins')).to.equal(null);
  });

  it('count relative dates from the day of a heading, else from that of writing when it lies in its time', () => {
    const written = new Date('2025-03-09T10:00:00Z');
    const below = (heading: string) =>
      anchorBelow(headingTime([heading]), written)
        ?.toISOString()
        .slice(0, 10) ?? null;
    expect(below('2024-06-03')).to.equal('2024-06-03');
    expect(below('March 2025')).to.equal('2025-03-09');
    expect(below('2021')).to.equal(null);
    expect(below('Work')).to.equal('2025-03-09');
  });
});
