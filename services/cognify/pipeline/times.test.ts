import { expect } from 'chai';
import { timeNamed, withTimes, writtenAtOf } from './times.ts';

const entity = (name: string, type: string) => ({ name, type, description: '', aliases: [], mentions: 1 });

describe('times of a chunk', () => {
  it('are timestamps, whatever a model calls them and however it writes them', () => {
    const text = 'Ada moved to Paris in March 2024 and stayed from May 2019 until 2021. Yesterday she called.';
    const evidence = text.slice(0, text.indexOf(' Yesterday'));
    const found = withTimes(
      {
        entities: [entity('Ada', 'Person'), entity('March 2024', 'Date'), entity('someday', 'Timestamp')],
        relations: [
          { source: 'March 2024', relation: 'moved_at', target: 'Ada', evidence: 'Ada moved to Paris in March 2024.' },
          { source: 'Ada', relation: 'stayed', target: 'until', evidence },
        ],
        sentences: [],
        summary: '',
        usage: null,
      },
      { text, headings: [], parts: [{ kind: 'paragraph', start: 0, end: text.length }] },
      { writtenAt: '2024-06-10T08:00:00.000Z' },
    );
    expect(found.entities.map(({ name, type }) => `${name} ${type}`)).to.deep.equal([
      'Ada Person',
      'someday Date',
      '2024-03 Timestamp',
      '2024-06-09 Timestamp',
    ]);
    expect(found.relations[0]).to.include({ source: '2024-03', validFrom: '2024-03', validTo: '2024-03' });
    expect(found.relations[1]).to.include({ validFrom: '2019-05', validTo: '2021' });
  });

  it('are read from their names', () => {
    expect(timeNamed('2024-02')).to.deep.include({ precision: 'month', until: new Date('2024-03-01') });
    expect(timeNamed('2024-02-03/2024-02-09')).to.deep.include({ precision: 'span', until: new Date('2024-02-10') });
    expect(timeNamed('1990/1999')?.until.toISOString()).to.equal('2000-01-01T00:00:00.000Z');
    expect(timeNamed('2024-03-05 10:20:30')).to.include({ precision: 'second' });
    for (const name of ['someday', 'March', '2024-13', '2024/2020', 'on 5 March 2024'])
      expect(timeNamed(name)).to.equal(null);
  });

  it('count from when a document says it was written', () => {
    const at = (format: string, metadata: Record<string, string>, text: string, file = 'notes.md') =>
      writtenAtOf({ format, metadata, text }, file)?.slice(0, 10) ?? null;
    expect(at('email', { date: 'Tue, 4 Mar 2025 10:15:00 +0100' }, '', 'a.eml')).to.equal('2025-03-04');
    expect(at('markdown', { date: '2025-03-05' }, '')).to.equal('2025-03-05');
    expect(at('text', {}, 'Minutes\n\n**Date:** 6 March 2025\n')).to.equal('2025-03-06');
    expect(at('markdown', {}, 'Datum: 7. März 2025\n')).to.equal('2025-03-07');
    expect(at('markdown', {}, 'Hello.', '2025-03-08 meeting.md')).to.equal('2025-03-08');
    expect(at('markdown', {}, 'Hello.', 'notes-2025-03-09.md')).to.equal('2025-03-09');
    expect(at('text', {}, 'Ada Moss\n14 Elm Hill\n\n10 March 2025\n\nDear Bo,\n')).to.equal('2025-03-10');
    expect(at('text', {}, '10 March 2025\nRain.\n\n11 March 2025\nSun.\n')).to.equal(null);
    expect(at('csv', {}, 'date: 2025-01-10, supplier: Ikea', 'rows.csv')).to.equal(null);
    expect(at('text', {}, 'On 5 March 2025 we met.')).to.equal(null);
  });
});
