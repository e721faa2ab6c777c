import { parseEnv } from 'node:util';
import { expect } from 'chai';
import { malformedLines, withoutBlankValues } from './load-config.ts';

describe('lines of a .env file', () => {
  it('are entries, comments or empty', () => {
    const good = [
      '# comment',
      '',
      '  ',
      'A=1',
      'export B = "two" # why',
      'C=',
      'D= ',
      "E='over\ntwo lines'",
      'F=`x`',
      'G=it"s',
      'H=a = b',
    ];
    for (const end of ['\n', '\r\n']) expect(malformedLines(good.join(end)), JSON.stringify(end)).to.deep.equal([]);
    expect(malformedLines('')).to.deep.equal([]);
  });

  it('are named by number when they are anything else', () => {
    for (const bad of ['REQUIRE_AUTHENTICATION true', 'A: 1', '<<<<<<< HEAD', '=======', '1A=2', '=x', 'A="1" x']) {
      expect(malformedLines(`A="1\n2"\n\n${bad}\nB=2\n${bad}`), bad).to.deep.equal([4, 6]);
    }
  });

  it('are named when a quote is not closed', () => {
    expect(malformedLines('A="1\nB=2\nC=3')).to.deep.equal([1]);
    expect(malformedLines('A="1\nB=2\nC="3"')).to.deep.equal([1]);
  });

  it('keep their meaning after a value that is a blank', () => {
    for (const text of ['A= \nB=1', 'A=\t \r\nB=1\r\n', '\uFEFFA= \nB=1']) {
      expect(parseEnv(withoutBlankValues(text)), JSON.stringify(text)).to.deep.equal({ A: '', B: '1' });
    }
  });
});
