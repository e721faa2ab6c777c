import { expect } from 'chai';
import fc from 'fast-check';
import { MAX_SENTENCE_LENGTH, sentences } from './sentences.ts';

const split = (text: string): string[] => sentences(text).map((sentence) => sentence.text);

describe('sentences', () => {
  it('knows abbreviations, initials and decimals', () => {
    expect(
      split(
        'Dr. Smith met J. R. Tolkien at Acme Inc. in the U.S. The meeting cost $3.5 million. It ended at 5 p.m. sharp.',
      ),
    ).to.deep.equal([
      'Dr. Smith met J. R. Tolkien at Acme Inc. in the U.S.',
      'The meeting cost $3.5 million.',
      'It ended at 5 p.m. sharp.',
    ]);
    expect(split('Leave through exit B. New students wait.')).to.deep.equal([
      'Leave through exit B.',
      'New students wait.',
    ]);
    expect(split('See No. 5 and Fig. 3. Then go.')).to.deep.equal(['See No. 5 and Fig. 3.', 'Then go.']);
  });

  it('keeps quotes and URLs together', () => {
    expect(split('"Really?" she asked. He said "Yes." Then he left.')).to.deep.equal([
      '"Really?" she asked.',
      'He said "Yes."',
      'Then he left.',
    ]);
    expect(split('Visit https://example.com/a?b=c.d now. Bye!')).to.deep.equal([
      'Visit https://example.com/a?b=c.d now.',
      'Bye!',
    ]);
  });

  it('splits at list items, headings, table rows and speakers, but not in wrapped lines', () => {
    expect(split('# Title\nText here\n- one\n- two\n| a | b |\n| 1 | 2 |\nAlice: hi\nBob: hello')).to.deep.equal([
      '# Title',
      'Text here',
      '- one',
      '- two',
      '| a | b |',
      '| 1 | 2 |',
      'Alice: hi',
      'Bob: hello',
    ]);
    expect(
      split('having little or no money in my purse, and nothing particular\nto interest me on shore.'),
    ).to.have.length(1);
    const wrapped = 'The contract is attached, as we agreed. I am on holiday from\n20 to 27 November.';
    expect(split(wrapped)).to.have.length(2);
    expect(split('1. First step. Do it.\n2. Second')).to.deep.equal(['1. First step.', 'Do it.', '2. Second']);
  });

  it('ends a message without a full stop before the next one', () => {
    const chat = [
      '[12 May 2026, 08:10] Nadia: The printer that we bought for the labels is jammed again',
      '[12 May 2026, 08:14] Elsa: Take the old one in the cellar, it worked the last time that I tried it',
      '12/05/2026, 08:40 - Nadia: Works, but the cartridge is nearly empty and I have found no other one',
      '20/05/2026, 7:02 pm - Nadia: From June we open until 19:30',
    ];
    expect(split(chat.join('\n'))).to.deep.equal(chat);
  });

  it('ends the lines of notes that nobody wrapped, also before small letters', () => {
    const notes = [
      'boiler guy came (Mr Okafor), pressure valve replaced, no charge',
      'todo: ask landlord about the damp patch',
      'mum called, hip op is on 4 May',
      'rain all day.',
      'bought a raincoat,',
      'and lost it on the tram',
    ];
    expect(split(notes.join('\n').replace('day.\nbought', 'day. bought'))).to.deep.equal([
      ...notes.slice(0, 4),
      'bought a raincoat,\nand lost it on the tram',
    ]);
    expect(split('name: Ilse Weber\nnote: dentist in the old town')).to.have.length(1);
    const wrapped =
      'We walked along the river until it was dark and the lights of the\nfirst houses came into view, where an old man sold us a bottle of\nmilk and some bread.';
    expect(split(wrapped)).to.have.length(1);
    const copied =
      'Some years ago—never mind how long precisely—having\nlittle or no money in my purse, and nothing particular to interest me\non shore, I thought I would sail about a little.';
    expect(split(copied)).to.have.length(1);
    expect(
      split('Still more strange to see him\nperched upon the loggerhead itself, under such skies.'),
    ).to.have.length(1);
    const linked =
      'Controls the size of a body. If this is a number, then the value\nis the number of bytes; if it is a string, the value is passed to\nbytes (https://example.org/bytes) for parsing. Defaults\nto 100kb.';
    expect(split(linked).at(-1)).to.equal('Defaults\nto 100kb.');
  });

  it('ends a message whose time stands behind the name before the next one', () => {
    const chat = ['Leo (18:05): the heating is off again', 'Ana (18:06): I called Mr Brandt, he comes on Friday'];
    expect(split(chat.join('\n'))).to.deep.equal(chat);
  });

  it('keeps the number of a heading with its words', () => {
    expect(split('## 1. Bridge\nClosed. Two beams.\n## 2. Trees')).to.deep.equal([
      '## 1. Bridge',
      'Closed.',
      'Two beams.',
      '## 2. Trees',
    ]);
  });

  it('knows full stops of other scripts', () => {
    expect(split('これは文です。次の文です！')).to.deep.equal(['これは文です。', '次の文です！']);
  });

  it('cuts endless text', () => {
    for (const text of ['word '.repeat(2000), 'x'.repeat(10_000), '🐋'.repeat(3000)]) {
      const found = sentences(text);
      expect(
        found.every((sentence) => sentence.text.length <= MAX_SENTENCE_LENGTH && sentence.text.isWellFormed()),
      ).to.equal(true);
    }
  });

  it('has exact offsets and loses only blanks, for any text', () => {
    const part = fc.oneof(
      fc.constantFrom(
        '. ',
        '.\n',
        '? ',
        '\n',
        '\n\n',
        ' ',
        '"',
        'Dr. ',
        'A. ',
        '- ',
        '1. ',
        '…',
        '。',
        ')',
        'The ',
        'end',
      ),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const text = parts.join('');
        let end = 0;
        for (const sentence of sentences(text)) {
          expect(text.slice(sentence.start, sentence.end)).to.equal(sentence.text);
          expect(sentence.start).to.be.at.least(end);
          expect(text.slice(end, sentence.start)).to.match(/^\s*$/);
          end = sentence.end;
        }
        expect(text.slice(end)).to.match(/^\s*$/);
      }),
      { numRuns: 500 },
    );
  });
});
