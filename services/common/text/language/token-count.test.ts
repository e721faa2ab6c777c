import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { estimateTokens } from './token-count.ts';

describe('estimateTokens', () => {
  it('stays near the exact count for prose, code, data and other scripts', () => {
    const exact = (text: string) => countTokens(text, { disallowedSpecial: new Set() });
    const code = readFileSync(new URL('./tokenize.ts', import.meta.url), 'utf8');
    const samples = {
      prose:
        'Call me Ishmael. Some years ago, never mind how long precisely, I thought I would sail about a little. '.repeat(
          10,
        ),
      code,
      json: JSON.stringify(
        { rows: Array.from({ length: 50 }, (_, id) => ({ id, name: `item ${id}`, price: id * 1.25 })) },
        null,
        2,
      ),
      base64: Buffer.from(code).toString('base64'),
      chinese: '东京是日本的首都，也是世界上人口最多的城市之一。'.repeat(10),
      russian: 'Москва является столицей России и крупнейшим городом страны. '.repeat(10),
      german: 'Die Geschwindigkeitsbegrenzung gilt weiterhin für alle Fahrzeuge der Verkehrsgesellschaft. '.repeat(10),
    };
    for (const [name, text] of Object.entries(samples)) {
      expect(estimateTokens(text) / exact(text), name).to.be.within(0.7, 1.35);
    }
    expect(estimateTokens('')).to.equal(0);
  });
});
