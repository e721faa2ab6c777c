import { expect } from 'chai';
import { readJson } from './json.ts';

const context = { limits: { maxDepth: 16 } } as Parameters<typeof readJson>[1];

describe('readJson', () => {
  it('reads the messages of a chat as turns below their days', () => {
    const slack = [
      {
        type: 'message',
        user: 'U1',
        user_profile: { real_name: 'Karin Vogt' },
        ts: '1738833240.000100',
        text: 'Where is it?',
      },
      {
        type: 'message',
        user: 'U2',
        user_profile: { real_name: 'Tom' },
        ts: '1738833360.000200',
        text: 'In the safe.',
      },
      {
        type: 'message',
        user: 'U1',
        user_profile: { real_name: 'Karin Vogt' },
        ts: '1738920000.000300',
        text: 'Thanks.',
      },
    ];
    expect(readJson(JSON.stringify(slack), context).blocks.map(({ text }) => text)).to.deep.equal([
      '2025-02-06',
      '[09:14] Karin Vogt: Where is it?',
      '[09:16] Tom: In the safe.',
      '2025-02-07',
      '[09:20] Karin Vogt: Thanks.',
    ]);
    const telegram = {
      name: 'Family',
      messages: [
        {
          type: 'message',
          date: '2025-03-12T18:04:22',
          from: 'Marit',
          text: ['See ', { type: 'link', text: 'the list' }],
        },
        { type: 'service', date: '2025-03-12T18:05:00', action: 'pin_message' },
        { type: 'message', date: '2025-03-12T18:06:00', from: 'Bo', text: 'Yes.' },
        { type: 'message', date: '2025-03-12T18:07:00', from: 'Bo', text: 'Done.' },
      ],
    };
    const read = readJson(JSON.stringify(telegram), context);
    expect(read.title).to.equal('Family');
    expect(read.blocks.map(({ text }) => text).slice(0, 2)).to.deep.equal([
      '2025-03-12',
      '[18:04] Marit: See the list',
    ]);
    const ships = [
      { name: 'Fram', text: 'Old.' },
      { name: 'Ulk', text: 'New.' },
      { name: 'Ra', text: 'Sunk.' },
    ];
    expect(readJson(JSON.stringify(ships), context).blocks[0]).to.deep.equal({
      kind: 'record',
      text: 'name: Fram\ntext: Old.',
    });
  });

  it('reads a field with more records than a call can have arguments', () => {
    const text = JSON.stringify({ records: Array.from({ length: 200_000 }, (_, n) => ({ n, name: `r${n}` })) });
    expect(readJson(text, context).blocks).to.have.length(200_000);
  });
});
