import { expect } from 'chai';
import fc from 'fast-check';
import { contentStems, MAX_QUERY_TERMS, MAX_TOKEN_LENGTH, porterStem, tokenize, tokenizeQuery } from './tokenize.ts';

const tokens = (text: string): string => tokenize(text).join(' ');

describe('tokenize', () => {
  it('returns the word as written, and its stem when it differs', () => {
    expect(tokens('Ships sailing the sea')).to.equal('ships ship sailing sail the sea');
  });

  it('folds case, compatibility forms and diacritics', () => {
    expect(tokens('ÆRØ Łódź ﬁne ＡＢＣ')).to.equal('aero lodz fine abc');
    expect(tokens('naïve')).to.equal(tokens('naive'));
  });

  it('splits identifiers and keeps them whole too', () => {
    expect(tokens('getUserById')).to.equal('getuserbyid get user by id');
    expect(tokens('HTTPServer')).to.equal('httpserver http server');
    expect(tokens('load_config_v2')).to.equal('load_config_v2 load config v2');
    expect(tokens('/usr/local/app.yaml')).to.equal('usr local app.yaml app yaml');
    expect(tokens('bob@example.com')).to.include('bob@example.com');
  });

  it('keeps numbers, versions and dates', () => {
    expect(tokens('1,200 and 3.14')).to.equal('1200 and 3.14');
    expect(tokens('v1.6.5')).to.equal('1.6.5 1.6');
    expect(tokenize('2024-03-05')).to.include('2024-03-05');
    expect(tokenize('1990s')).to.include('1990');
  });

  it('drops possessives and apostrophes', () => {
    expect(tokens("Ahab's dogs'")).to.equal('ahab dogs dog');
    expect(tokens('O’Brien')).to.equal('obrien brien');
  });

  it('joins hyphenated words and acronyms with full stops', () => {
    expect(tokenize('e-mail')).to.include('email');
    expect(tokenize('F-16')).to.include('f16');
    expect(tokens('U.S.A')).to.equal('usa');
    expect(tokens('C++ C# F')).to.equal('c++ c# f');
  });

  it('cuts scripts without blanks into pairs', () => {
    expect(tokenizeQuery('東京都')).to.deep.equal(['東京', '京都']);
    expect(tokenize('東京都')).to.include.members(['東', '東京', '京都']);
    expect(tokenizeQuery('東')).to.deep.equal(['東']);
  });

  it('bounds the length of a token alike in texts and queries', () => {
    const long = 'x'.repeat(500);
    expect(tokenize(long).every((token) => token.length <= MAX_TOKEN_LENGTH)).to.equal(true);
    expect(tokenize(long)).to.include(tokenizeQuery(long)[0]);
  });

  it('finds every term of a query made of the text itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (text) => {
        const index = new Set(tokenize(text));
        for (const term of tokenizeQuery(text)) expect(index.has(term), `${term} of ${text}`).to.equal(true);
        for (const token of index) expect(token).to.match(/^\S+$/);
      }),
      { numRuns: 500 },
    );
  });
});

describe('tokenizeQuery', () => {
  it('removes the function words of German, Spanish and French questions, and of no English one', () => {
    expect(tokenizeQuery('Wo wohne ich?')).to.deep.equal(['wohn']);
    expect(tokenizeQuery('¿Dónde trabajo?')).to.deep.equal(['trabajo']);
    expect(tokenizeQuery("Comment s'appelle mon chien ?")).to.deep.equal(['chien']);
    expect(tokenizeQuery('comment on the war')).to.deep.equal(['comment', 'war']);
    expect(tokenizeQuery('When did Las Vegas and Los Angeles grow?')).to.include.members(['la', 'lo']);
  });

  it('drops words that say nothing, unless there is nothing else', () => {
    expect(tokenizeQuery('What is the name of the ship?')).to.deep.equal(['ship']);
    expect(tokenizeQuery('to be or not to be')).to.deep.equal(['to', 'be', 'or', 'not']);
    expect(tokenizeQuery('Did the US and IT help us?')).to.deep.equal(['us', 'it', 'help']);
    expect(tokenizeQuery('?!')).to.deep.equal([]);
  });

  it('asks one form per word, and the written one in quotes', () => {
    expect(tokenizeQuery('published ships')).to.deep.equal(['publish', 'ship']);
    expect(tokenizeQuery('"published ships"')).to.deep.equal(['published', 'ships']);
  });

  it('keeps distinct terms and at most 64', () => {
    expect(tokenizeQuery('ship ship ships')).to.deep.equal(['ship']);
    const many = Array.from({ length: 200 }, (_, at) => `word${at}`).join(' ');
    expect(tokenizeQuery(many)).to.have.length(MAX_QUERY_TERMS);
  });
});

describe('contentStems', () => {
  it('returns stems of content words with repetition, or of all words without content words', () => {
    expect(contentStems('the ships and the ship')).to.deep.equal(['ship', 'ship']);
    expect(contentStems('The Who')).to.deep.equal(['the', 'who']);
  });
});

describe('porterStem', () => {
  it('answers alike the first time, from memory, and after more words than it remembers', () => {
    expect(porterStem('whaling')).to.equal('whale');
    expect(porterStem('whaling')).to.equal('whale');
    for (let number = 0; number < 21_000; number += 1) porterStem(`wordings${number.toString(36).replace(/\d/g, 'q')}`);
    expect(porterStem('whaling')).to.equal('whale');
    expect(porterStem('constructor')).to.equal('constructor');
  });
});
