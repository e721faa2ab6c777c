import { expect } from 'chai';
import { dates } from './dates.ts';

const anchor = new Date('2026-11-21T10:00:00Z');
const found = (text: string, from?: Date): string[] => dates(text, from).map((date) => date.name);

describe('dates', () => {
  it('reads absolute dates of every precision', () => {
    expect(found('On 5 March 2005, March 6th, 2005 and 2005-03-07.')).to.deep.equal([
      '2005-03-05',
      '2005-03-06',
      '2005-03-07',
    ]);
    expect(found('In March 2004 and in 1963.')).to.deep.equal(['2004-03', '1963']);
    expect(found('From 1999–2005, in the 1990s and the 19th century.')).to.deep.equal([
      '1999/2005',
      '1990/1999',
      '1801/1900',
    ]);
    expect(found('2024-03-05T10:20:30')).to.deep.equal(['2024-03-05 10:20:30']);
    expect(found('13/12/2001, 12/13/2001, 13.12.2001')).to.deep.equal(['2001-12-13', '2001-12-13', '2001-12-13']);
  });

  it('reads a weekday with a day and no month as the nearest such day', () => {
    const said = new Date('2026-05-14T20:02:00Z');
    const names = (text: string) => dates(text, said).map(({ name }) => name);
    expect(names('We come on Saturday the 23rd.')).to.deep.equal(['2026-05-23']);
    expect(names('It was Friday the 13th.')).to.deep.equal(['2026-03-13']);
  });

  it('ends before the full stop of its sentence', () => {
    const texts = (text: string) => dates(text, anchor).map(({ start, end }) => text.slice(start, end));
    expect(texts('She defends it on 12 November.')).to.deep.equal(['12 November']);
    expect(texts('She defends it on 12 Nov. in Graz.')).to.deep.equal(['12 Nov']);
  });

  it('reads a weekday and its day as one date', () => {
    expect(found('We start on Monday, 16 November.', anchor)).to.deep.equal(['2026-11-16']);
    expect(found('Wir beginnen am Montag, den 16. November 2026.', anchor)).to.deep.equal(['2026-11-16']);
    expect(found('On Monday we met, 5 March 2005 was long ago.', anchor)).to.deep.equal(['2026-11-16', '2005-03-05']);
  });

  it('returns exact bounds, the end exclusive', () => {
    const [month] = dates('in March 2004');
    expect(month?.from.toISOString()).to.equal('2004-03-01T00:00:00.000Z');
    expect(month?.until.toISOString()).to.equal('2004-04-01T00:00:00.000Z');
    expect(month).to.include({ text: 'March 2004', start: 3, end: 13, precision: 'month', isRelative: false });
  });

  it('does not take numbers for years, nor days that do not exist', () => {
    expect(found('1200 men, 1,999 tons, $1999, BWV 1033, 2016 people, version 1.2019')).to.deep.equal([]);
    expect(found('in 1200')).to.deep.equal(['1200']);
    expect(found('2023-02-31')).to.deep.equal([]);
  });

  it('reads relative dates from the time of writing only', () => {
    expect(found('I met him yesterday, last month and two weeks ago.')).to.deep.equal([]);
    expect(found('I met him yesterday.', anchor)).to.deep.equal(['2026-11-20']);
    expect(found('It was two weeks ago.', anchor)).to.deep.equal(['2026-11-07']);
    expect(found('last month, this year and last week', anchor)).to.deep.equal([
      '2026-10',
      '2026',
      '2026-11-09/2026-11-15',
    ]);
    expect(found('in the last 3 months', anchor)).to.deep.equal(['2026-08-21/2026-11-21']);
    expect(dates('yesterday', anchor)[0]?.isRelative).to.equal(true);
  });

  it('reads relative dates in English, German, Spanish and French', () => {
    const expected: Readonly<Record<string, string>> = {
      'We met last Tuesday.': '2026-11-17',
      'The talk is next Friday.': '2026-11-27',
      'It rained in March.': '2026-03',
      'In the spring I moved.': '2026-03/2026-05',
      'A couple of weeks ago it broke.': '2026-11-07',
      'Am 3. Mai habe ich angefangen.': '2026-05-03',
      'Am 14. Juli 2025 war die Prüfung.': '2025-07-14',
      'Letzte Woche und vorgestern war ich krank.': '2026-11-09/2026-11-15 2026-11-19',
      'Im Sommer und vor drei Tagen.': '2026-06/2026-08 2026-11-18',
      'Ayer compré pan; hace dos semanas, leche.': '2026-11-20 2026-11-07',
      'El martes pasado y el 3 de agosto de 2025.': '2026-11-17 2025-08-03',
      "Hier j'ai dormi, la semaine dernière aussi.": '2026-11-20 2026-11-09/2026-11-15',
      'Il y a deux semaines, le 5 mai 2024.': '2026-11-07 2024-05-05',
    };
    const read = Object.fromEntries(Object.keys(expected).map((text) => [text, found(text, anchor).join(' ')]));
    expect(read).to.deep.equal(expected);
  });

  it('takes the future where the sentence is about it', () => {
    expect(found('We will fly in March, and she starts in two weeks.', anchor)).to.deep.equal([
      '2027-03',
      '2026-12-05',
    ]);
    expect(found('I finished it in two weeks.', anchor)).to.deep.equal([]);
  });

  it('gives a day that comes back each year no year', () => {
    for (const text of ['It is renewed every 1 March.', 'Wir treffen uns jeden 3. Mai.', 'cada 6 de enero'])
      expect(found(text, anchor), text).to.deep.equal([]);
  });

  it('does not take words for dates that look like them', () => {
    const others = [
      'He is still read today.',
      'The next day it rained, and they march on.',
      'Das Haus hier ist alt.',
      'Am Morgen war es kalt.',
      'Trabajo por la mañana.',
      'It may fall in any season of the year.',
      'Mars 2020 is a rover on Mondays.',
    ];
    expect(others.flatMap((text) => found(text, anchor))).to.deep.equal(['2020']);
  });
});
