import { expect } from 'chai';
import fc from 'fast-check';
import { expectQuick, threadCpuTimeMs } from '../../../test/support/cpu-time.ts';
import { splitFrontMatter } from './front-matter.ts';
import { readSkill } from './read-skill.ts';

function fieldsOf(yaml: string): Record<string, unknown> {
  return Object.fromEntries(splitFrontMatter(`---\n${yaml}\n---\nbody`).fields);
}

describe('front matter of skills', () => {
  it('reads texts, plain, quoted and in blocks', () => {
    expect(
      fieldsOf(
        `name: triage # a comment\nurl: https://example.org/#part\nquote: "a \\"b\\"\\nc: d"\nsingle: 'it''s'\nfolded: >-\n  one\n  two\n\n  three\nkept: |\n  one\n    two\nlong: begins here\n  and goes on\nnothing: ~`,
      ),
    ).to.deep.equal({
      name: 'triage',
      url: 'https://example.org/#part',
      quote: 'a "b"\nc: d',
      single: "it's",
      folded: 'one two\nthree',
      kept: 'one\n  two',
      long: 'begins here and goes on',
      nothing: '',
    });
  });

  it('reads lists in brackets and one per line', () => {
    expect(fieldsOf('a: [x, "y, z", \'w\'] # end\nb:\n  - one\n  - "two"\nc:\n- three')).to.deep.equal({
      a: ['x', 'y, z', 'w'],
      b: ['one', 'two'],
      c: ['three'],
    });
  });

  it('parts texts at commas outside parentheses, in time that grows with the text alone', () => {
    const tools = (text: string) => readSkill('x', `---\ntools: ${text}\n---\nbody`).declaredTools;
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b ', ',', '(', ')')), (characters) => {
        const text = `t${characters.join('')}`;
        const entries = text.split(/,(?![^()]*\))/u).map((entry) => entry.trim());
        expect(tools(text)).to.deep.equal([...new Set(entries.filter((entry) => entry !== ''))]);
      }),
    );
    const before = threadCpuTimeMs();
    expect(tools(','.repeat(250_000))).to.deep.equal([]);
    expectQuick(threadCpuTimeMs() - before, 1000);
  });

  it('passes over maps, tags of other lines and repeated fields', () => {
    expect(fieldsOf('metadata:\n  author: x\nmap: {a: b}\n??? what\nname: first\nname: second')).to.deep.equal({
      name: 'first',
    });
  });

  it('takes anchors, tags and prototypes for text', () => {
    expect(fieldsOf('a: &x !!js/function "return 1"\nb: *x\n__proto__: polluted')['a']).to.equal(
      '&x !!js/function "return 1"',
    );
    expect(splitFrontMatter('---\n__proto__: polluted\n---\n').fields.get('__proto__')).to.equal('polluted');
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  it('keeps a text whole whose front matter is not closed', () => {
    const text = '---\nname: x\nno end';
    expect(splitFrontMatter(text)).to.deep.equal({ fields: new Map(), body: text });
  });

  it('never fails and takes time in proportion to the text, whatever it holds', () => {
    const piece = fc.constantFrom(
      '---',
      '\n',
      ':',
      ' ',
      '- ',
      '[',
      ']',
      '"',
      "'",
      '\\',
      '|',
      '>',
      '#',
      'a',
      '{',
      ',',
      '\ud800',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 300 }), (pieces) => {
        const { fields, body } = splitFrontMatter(`---\n${pieces.join('')}\n---\nrest`);
        for (const value of fields.values()) expect(value).to.satisfy(isTextOrTexts);
        expect(body.endsWith('rest')).to.equal(true);
      }),
    );
    for (const hostile of ['[', '"\\', "'", '_*', '- ', '(', '![', '`']) {
      const startedAt = threadCpuTimeMs();
      readSkill('hostile', `---\ntools: ${hostile.repeat(20_000)}\n---\n${hostile.repeat(20_000)}`);
      expectQuick(threadCpuTimeMs() - startedAt, 500);
    }
  });
});

function isTextOrTexts(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.every((entry) => typeof entry === 'string'));
}

describe('reading a skill', () => {
  it('knows the fields by their aliases', () => {
    const text =
      '---\nsummary: Sorts tickets\nallowed-tools: Read, Bash(git add:*, git rm:*), Read\ncategories: [a, b]\nauthor: Ada\nhomepage: https://example.org\nver: 1.2\nlicence: MIT\n---\n\n# Triage\n\nRead it.\n';
    expect(readSkill('triage', text)).to.deep.equal({
      name: 'triage',
      description: 'Sorts tickets',
      maintainer: 'Ada',
      maintainerUrl: 'https://example.org',
      version: '1.2',
      license: 'MIT',
      sourceRepoUrl: '',
      tags: ['a', 'b'],
      declaredTools: ['Read', 'Bash(git add:*, git rm:*)'],
      isActive: true,
      procedure: '# Triage\n\nRead it.',
    });
  });

  it('describes a skill that does not describe itself by its first paragraph, without marks', () => {
    const text =
      '# Triage\n\n```sh\ncode here\n```\n\nRead the **ticket** with `get_ticket`, see [the guide](x).\n\nMore.';
    expect(readSkill('triage', text).description).to.equal('Read the ticket with get_ticket, see the guide.');
    expect(readSkill('long', 'word '.repeat(300)).description.length).to.be.at.most(500);
  });

  it('refuses names that are none and texts that are too long', () => {
    for (const name of ['', '  ', '..', 'a/b', 'a\nb', 'x'.repeat(201)]) {
      expect(() => readSkill(name, 'text')).to.throw(/name of a skill/);
    }
    expect(() => readSkill('x', 'y'.repeat(256 * 1024 + 1))).to.throw(/limited to/);
  });
});
