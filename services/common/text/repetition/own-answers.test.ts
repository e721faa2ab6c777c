import { expect } from 'chai';
import { ACKNOWLEDGEMENT, isOwnAnswer, NOTHING_FITS, quoteLine, withoutEvidence } from './own-answers.ts';

describe('answers of the service itself', () => {
  const quotes = [quoteLine('Ada works at Globex.', 'notes'), quoteLine('She said "yes".', 'a (draft)')].join('\n');

  it('are those that say nothing of the world, and quotes of memory', () => {
    expect(isOwnAnswer(NOTHING_FITS, false)).to.equal(true);
    expect(isOwnAnswer(ACKNOWLEDGEMENT, false)).to.equal(true);
    expect(isOwnAnswer(quotes, true)).to.equal(true);
    expect(isOwnAnswer(`Globex: ${quotes}`, true)).to.equal(true);
    expect(isOwnAnswer(`${quotes}\n\`\`\`js\nconst a = "b";\n\n\`\`\``, true)).to.equal(true);
    expect(isOwnAnswer(`${quotes}\n\`\`\`js\nconst a = 1;\n\`\`\`\nSo I did.`, true)).to.equal(false);
    const code = '```\nconst a = 1;\n```';
    expect(isOwnAnswer(`${quotes}\n${code}\nI think so.\n${code}`, true)).to.equal(false);
    const parts = `Where is Ada?\n${quotes}\n\nWho is Bob?\n${NOTHING_FITS}`;
    expect(isOwnAnswer(parts, true)).to.equal(true);
    expect(isOwnAnswer(`${parts}\nI think so.`, true)).to.equal(false);
  });

  it('are not texts without a question, or with content around the quotes', () => {
    expect(isOwnAnswer(quotes, false)).to.equal(false);
    expect(isOwnAnswer(`${quotes}\nSo she lives there.`, true)).to.equal(false);
    expect(isOwnAnswer('"Ada works." (notes) But I doubt it: "No." (mail)', true)).to.equal(false);
    expect(isOwnAnswer('Ada works at Globex.', true)).to.equal(false);
  });

  it('lose the evidence below them, and nothing else', () => {
    const evidence = '\n\nEvidence:\n- chunk 1 of document notes (data_id: 1, chunk_id: 2): "Ada works"';
    expect(withoutEvidence(`${quotes}${evidence}`)).to.equal(quotes);
    const own = 'Two things.\n\nEvidence:\n- the letter';
    expect(withoutEvidence(own)).to.equal(own);
  });
});
