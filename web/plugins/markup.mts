// The page's own HTML elements (x-...), found by a parser and replaced in the source, of which all else stays as written.
import { parse, parseFragment, type DefaultTreeAdapterTypes as Tree } from 'parse5';

/** An element as its source has it; attributes are decoded. */
export interface Found {
  attributes: Readonly<Record<string, string>>;
  /** The source between its tags. */
  inner: string;
}

/** By tag name: the HTML in place of an element. */
export type Replacements = Readonly<Record<string, (element: Found) => string>>;

/** The comment that names a number of `npm run experiments`, and the number behind it. */
const WRITTEN = /^=/;
const NUMBER = /^[-\d. to]*/;

function isElement(node: Tree.Node): node is Tree.Element {
  return 'tagName' in node;
}

/** The outermost nodes that `isWanted`, in the order of the source. */
function* outermost(node: Tree.Node, isWanted: (node: Tree.Node) => boolean): Generator<Tree.Node> {
  if (isWanted(node)) yield node;
  else if ('childNodes' in node) for (const child of node.childNodes) yield* outermost(child, isWanted);
}

const treeOf = (html: string) =>
  /^\s*<!doctype/i.test(html)
    ? parse(html, { sourceCodeLocationInfo: true })
    : parseFragment(html, { sourceCodeLocationInfo: true });

function foundIn(html: string, { tagName, attrs, sourceCodeLocation: place }: Tree.Element): Found {
  const { startTag, endTag } = place ?? {};
  if (!startTag || !endTag) throw new Error(`every <${tagName}> must have an end tag: found one without`);
  return {
    attributes: Object.fromEntries(attrs.map(({ name, value }) => [name, value])),
    inner: html.slice(startTag.endOffset, endTag.startOffset),
  };
}

/** All elements with a tag name. Throws where one has no end tag. */
export function elementsIn(html: string, name: string): Found[] {
  const isNamed = (node: Tree.Node) => isElement(node) && node.tagName === name;
  return [...outermost(treeOf(html), isNamed)].map((node) => foundIn(html, node as Tree.Element));
}

/**
 * HTML with the outermost elements of these names replaced. Comments that name a number are left out, and the minus of
 * the number behind becomes a sign. Throws where an element has no end tag.
 */
export function replaced(html: string, replacements: Replacements): string {
  const isWanted = (node: Tree.Node) =>
    (isElement(node) && Object.hasOwn(replacements, node.tagName)) ||
    (node.nodeName === '#comment' && WRITTEN.test((node as Tree.CommentNode).data));
  let text = '';
  let end = 0;
  for (const node of outermost(treeOf(html), isWanted)) {
    const { startOffset, endOffset } = (node as Tree.Element | Tree.CommentNode).sourceCodeLocation!;
    text += html.slice(end, startOffset);
    end = endOffset;
    if (isElement(node)) text += replacements[node.tagName](foundIn(html, node));
    else {
      const [number] = NUMBER.exec(html.slice(end))!;
      text += number.replaceAll('-', '−');
      end += number.length;
    }
  }
  return text + html.slice(end);
}

/** An attribute that an element must have. */
export function required({ attributes }: Found, name: string, of: string): string {
  const { [name]: value } = attributes;
  if (value === undefined) {
    throw new Error(`<${of}> must have the attribute ${name}: found ${Object.keys(attributes).join(', ') || 'none'}`);
  }
  return value;
}
