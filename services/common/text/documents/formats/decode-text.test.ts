import { expect } from 'chai';
import { decodeText } from './decode-text.ts';

describe('decoding text', () => {
  it('reads UTF-8 with and without mark', () => {
    expect(decodeText(Buffer.from('żółw 🐢'))).to.deep.equal({ text: 'żółw 🐢', encoding: 'utf-8' });
    expect(decodeText(Buffer.from('\ufeffżółw'))?.text).to.equal('żółw');
  });

  it('reads UTF-16 of both orders by its mark, and by declaration', () => {
    const little = Buffer.from('\ufeffGrüße', 'utf16le');
    expect(decodeText(little)).to.deep.equal({ text: 'Grüße', encoding: 'utf-16le' });
    expect(decodeText(Buffer.from(little).swap16())).to.deep.equal({ text: 'Grüße', encoding: 'utf-16be' });
    expect(decodeText(Buffer.from('Grüße', 'utf16le'), 'utf-16le')?.text).to.equal('Grüße');
  });

  it('honours a declared encoding when the bytes are not UTF-8', () => {
    expect(decodeText(Buffer.from('caf\xe9', 'latin1'), 'iso-8859-1')?.text).to.equal('café');
    expect(decodeText(Uint8Array.of(0xcf, 0xf0, 0xe8), 'windows-1251')?.text).to.equal('При');
    expect(decodeText(Uint8Array.of(0x93, 0xfa, 0x96, 0x7b), 'shift_jis')?.text).to.equal('日本');
    expect(decodeText(Buffer.from('żółw'), 'iso-8859-1')?.text, 'a wrong declaration').to.equal('żółw');
    expect(decodeText(Buffer.from('plain'), 'no-such-thing')?.text).to.equal('plain');
  });

  it('guesses Windows-1252 only for long western text', () => {
    const western = Buffer.from(
      'Le caf\xe9 de la for\xeat est tr\xe8s appr\xe9ci\xe9 des \xe9tudiants, qui y vont apr\xe8s les cours.',
      'latin1',
    );
    expect(decodeText(western)).to.deep.equal({
      text: 'Le café de la forêt est très apprécié des étudiants, qui y vont après les cours.',
      encoding: 'windows-1252',
    });
    expect(decodeText(Buffer.from('caf\xe9 au lait\n', 'latin1')), 'too short to tell').to.equal(null);
    const russian = Buffer.from(
      Array.from({ length: 200 }, (_, index) => (index % 6 === 5 ? 0x20 : 0xc0 + (index % 30))),
    );
    expect(decodeText(russian), 'another alphabet').to.equal(null);
  });

  it('refuses bytes that are no text', () => {
    expect(decodeText(Buffer.from(Array.from({ length: 500 }, (_, index) => (index * 7919) % 256)))).to.equal(null);
    expect(decodeText(Buffer.alloc(100))).to.equal(null);
    expect(decodeText(Buffer.from(Array.from({ length: 300 }, (_, index) => index % 9)))).to.equal(null);
  });

  it('replaces stray NULs and encoded surrogates instead of failing', () => {
    expect(decodeText(Buffer.from('a\0b text with one'))?.text).to.equal('a\ufffdb text with one');
    const surrogate = Buffer.concat([Buffer.from('bad '), Buffer.from([0xed, 0xa0, 0xbd]), Buffer.from(' half')]);
    expect(decodeText(surrogate)?.text).to.equal('bad \ufffd half');
    const utf16Half = Buffer.concat([
      Buffer.from([0xff, 0xfe]),
      Buffer.from('x', 'utf16le'),
      Buffer.from([0x3d, 0xd8]),
      Buffer.from('y', 'utf16le'),
    ]);
    expect(decodeText(utf16Half)?.text).to.equal('x\ufffdy');
  });
});
