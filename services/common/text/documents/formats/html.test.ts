import { expect } from 'chai';
import { finishDocument } from './draft.ts';
import { PLAIN_TEXT } from './format-table.ts';
import { readHtml } from './html.ts';
import { defaultDocumentLimits, type ParseContext } from './limits.ts';

const context: ParseContext = { fileName: 'a.html', declaredMimeType: undefined, limits: defaultDocumentLimits };

function outline(source: string): string[] {
  return finishDocument(readHtml(source, context), PLAIN_TEXT, context).blocks.map(
    ({ kind, level, text }) => `${kind}${level ?? ''} ${text}`,
  );
}

const sentence = 'The harbour of Bergen lies between seven hills and the sea, and ships come from far away. ';

describe('HTML', () => {
  it('keeps headings, lists, tables, code and quotes', () => {
    const source =
      '<h1>Ports</h1><p>Some <b>bold</b>\n  words&nbsp;&amp; <a href="/x">links</a>.<br>Next line</p><ol start="3"><li>three<ul><li>inner</li></ul></li><li><p>four</p></li></ol><table><caption>Ships</caption><thead><tr><th>name</th><th colspan=2>tons</th></tr></thead><tr><td>Fram</td><td><ul><li>402</li><li>gross</li></ul></td><td>x|y</td></tr></table><pre><code class="language-js">a\n  b</code></pre><blockquote><p>said she</p></blockquote><dl><dt>Ebb</dt><dd>low water</dd></dl>';
    expect(outline(source)).to.deep.equal([
      'heading1 Ports',
      'paragraph Some bold words\u00a0& links.\nNext line',
      'list-item 3. three',
      'list-item inner',
      'list-item 4. four',
      'paragraph Ships',
      'table | name | tons |  |\n| --- | --- | --- |\n| Fram | 402 gross | x\\|y |',
      'code ```js\na\n  b\n```',
      'quote said she',
      'list-item Ebb',
      'list-item low water',
    ]);
  });

  it('extracts the article of a page without menus, scripts and footers', () => {
    const menu = `<nav><ul>${'<li><a href="/m">menu entry</a></li>'.repeat(20)}</ul></nav>`;
    const related = `<div>${'<p><a href="/r">related story</a></p>'.repeat(20)}</div>`;
    const source = `<html><head><title>Bergen | The Paper</title><style>p{}</style></head><body>${menu}<article><h1>Bergen</h1><h2>The sea</h2>${`<p>${sentence.repeat(5)}</p>`.repeat(5)}<script>alert(1)</script></article>${related}<footer>imprint of the paper</footer></body></html>`;
    const blocks = outline(source);
    expect(blocks.slice(0, 2)).to.deep.equal(['heading1 Bergen', 'heading2 The sea']);
    expect(blocks).to.have.length(7);
    expect(blocks.join('\n')).not.to.match(/menu entry|related story|alert|imprint/);
  });

  it('reads the whole body when the page is not an article', () => {
    const rows = Array.from(
      { length: 30 },
      (_, index) => `<div><h3>Item ${index}</h3><div>${sentence}</div></div>`,
    ).join('');
    const blocks = outline(`<html><body><div id="a">${rows}</div><div id="b">${rows}</div></body></html>`);
    expect(blocks.filter((block) => block.startsWith('heading3'))).to.have.length(60);
  });

  it('reads tables that arrange a page as text, not as data', () => {
    const blocks = outline(
      `<table><tr><td><h2>News</h2><p>${sentence}</p></td><td>${'menu '.repeat(3)}</td></tr></table>`,
    );
    expect(blocks.slice(0, 2)).to.deep.equal(['heading2 News', `paragraph ${sentence.trim()}`]);
    expect(blocks.some((block) => block.startsWith('table'))).to.equal(false);
  });

  it('omits hidden content', () => {
    expect(
      outline(
        '<p>seen</p><p hidden>not</p><p style="display: none">nor</p><p aria-hidden="true">nor</p><template>nor</template><svg><text>nor</text></svg>',
      ),
    ).to.deep.equal(['paragraph seen']);
  });

  it('reads pages whose writer left out the tags that may be left out', () => {
    for (const source of [
      '<html><p>seen</p></html>',
      '<html><head><title>T</title></head><p>seen',
      '<html><head><title>T</title><body><p>seen</p>',
      '<!DOCTYPE html><html lang=en><meta charset=utf-8><title>T</title><script>if (a < b) "<body>"</script><p>seen</p>',
      '<?xml version="1.0"?><!-- <body> --><html><head><title/><script src="x"/></head><body class="a"><p>seen</p></body></html>',
      '<head><style>p{}</style></head>seen',
      '<title>T</title><!-- a <html> of old --><p>seen',
      '<html>seen<body></body></html>',
    ]) {
      expect(outline(source), source).to.deep.equal(['paragraph seen']);
    }
    expect(readHtml('<html lang=en><title>T</title><p>x', context)).to.deep.include({
      title: 'T',
      metadata: { language: 'en' },
    });
  });

  it('returns title, author and language of the page', () => {
    const document = readHtml(
      '<html lang="no"><head><title> A  page </title><meta name="author" content="Ada"></head><body><p>x</p></body></html>',
      context,
    );
    expect(finishDocument(document, PLAIN_TEXT, context)).to.deep.include({ title: 'A page' });
    expect(document.metadata).to.deep.equal({ author: 'Ada', language: 'no' });
  });
});
