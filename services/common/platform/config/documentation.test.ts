import { expect } from 'chai';
import { configurationMarkdown, configurationText, MARKS, replaceSection } from './documentation.ts';
import { foreignNameOf } from './foreign-names.ts';
import type { Setting } from './settings/setting.ts';
import { SETTINGS } from './settings.ts';

const settings = Object.values<Setting>(SETTINGS);

describe('configuration table', () => {
  it('names every setting, marks secrets, and gives no default for one', () => {
    const text = configurationText();
    const markdown = configurationMarkdown();
    for (const row of settings) {
      for (const name of row.names) {
        expect(text).to.include(name);
        expect(markdown).to.include(`\`${name}\``);
      }
      if (/PASSWORD$|SECRET$|API_KEY$/.test(row.names[0])) expect(row.secret, row.names[0]).to.equal(true);
      if (row.secret === true) expect(row.default).to.equal(undefined);
    }
  });

  it('replaces what stands between the marks and nothing else', () => {
    const document = `# A\n${MARKS[0]}\nstale row\n${MARKS[1]}\nrest`;
    const first = replaceSection(document);
    expect(first)
      .to.match(/^# A\n/)
      .and.match(/rest$/)
      .and.not.include('stale row');
    expect(replaceSection(first)).to.equal(first);
    expect(() => replaceSection('# A')).to.throw('lacks the marks');
  });

  it('never lists a name twice: as honoured and as something else', () => {
    const names = settings.flatMap((row) => row.names);
    expect(new Set(names).size).to.equal(names.length);
    for (const name of names) {
      expect(foreignNameOf(name), name).to.equal(undefined);
    }
  });
});
