// The site of the documents, built by scripts/build-docs.ts. Its pages and their order are those of docs/README.md.
import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { defineConfig } from 'vitepress';

const DOCS = join(import.meta.dirname, '..');

interface Entry {
  readonly text: string;
  readonly link: string;
}

interface Group {
  readonly text: string;
  readonly collapsed: boolean;
  readonly items: Entry[];
}

/** The groups of the sidebar: the headings of the index, each with the links below it. */
function sidebar(): Group[] {
  const [, ...parts] = readFileSync(join(DOCS, 'README.md'), 'utf8').split(/^## /m);
  return parts.map((part, at) => ({
    text: part.slice(0, part.indexOf('\n')),
    collapsed: at > 1,
    items: [...part.matchAll(/\[([^\]]+)\]\(([\w/-]+)\.md\)/g)]
      .filter(([, , page = '']) => !leadsOutside(page, 'README.md'))
      .map(([, text = '', page = '']) => ({
        text: text.charAt(0).toUpperCase() + text.slice(1),
        link: `/${page}`,
      })),
  }));
}

/** Whether a link of a page leads to what the site does not have, such as the code. */
function leadsOutside(href: string, page: string): boolean {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return false;
  const file = normalize(join(page, '..', href.replace(/#.*/, '')));
  return file.startsWith('..') || file.startsWith('decisions');
}

export default defineConfig({
  title: 'Granary',
  description: 'A database server for the memory of AI agents.',
  lang: 'en',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  base: '/docs/',
  srcExclude: ['decisions/**'],
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: true,
  // A switch of the theme would else write a style element, which the policy forbids too.
  appearance: { disableTransition: false },
  metaChunk: true,
  // The policy of the pages forbids style attributes; scripts may set styles.
  transformHtml: (html) => html.replaceAll(/(<[a-z][^<>]*?) style="[^"]*"/g, '$1'),
  cacheDir: '../node_modules/.cache/vitepress',
  markdown: {
    // A highlighter would set colours in style attributes, which the policy of the pages forbids.
    highlight: (code) => `<pre v-pre><code>${escaped(code)}</code></pre>`,
    config: (markdown) => {
      // The braces of templates in a text mean nothing to Vue.
      for (const rule of ['text', 'code_inline']) {
        const render = markdown.renderer.rules[rule];
        if (render === undefined) throw new Error(`no rule ${rule}`);
        markdown.renderer.rules[rule] = (...asked) => render(...asked).replaceAll('{{', '&#123;&#123;');
      }
      const open = markdown.renderer.rules['link_open'];
      const close = markdown.renderer.rules['link_close'];
      let outside = false;
      markdown.renderer.rules['link_open'] = (tokens, at, options, env, self) => {
        outside = leadsOutside(String(tokens[at]?.attrGet('href')), String(env.relativePath));
        if (outside) return '<span>';
        return open ? open(tokens, at, options, env, self) : self.renderToken(tokens, at, options);
      };
      markdown.renderer.rules['link_close'] = (tokens, at, options, env, self) => {
        if (outside) return '</span>';
        return close ? close(tokens, at, options, env, self) : self.renderToken(tokens, at, options);
      };
    },
  },
  themeConfig: {
    nav: [{ text: 'Reference', link: '/reference/operations' }],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
  },
});

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
