// Keys, tokens, passwords, PINs and one-time codes.
import { BY_CUE, type Scan } from '../scan.ts';
import { skipLink } from './labelled.ts';

/** Tokens whose issuer shows in their first characters. */
const KEYED =
  /\b(?:(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_\w{22,255}|glpat-[\w-]{20,64}|sk-[A-Za-z0-9_-]{20,200}|(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{16,128}|xox[abprs]-[A-Za-z0-9-]{10,250}|AIza[\w-]{35}|ya29\.[\w-]{20,500}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{30,300}|SG\.[\w-]{16,64}\.[\w-]{16,64}|hf_[A-Za-z0-9]{30,64}|dop_v1_[a-f0-9]{64}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|key-[a-f0-9]{32}|AGE-SECRET-KEY-1[A-Z0-9]{50,64}|eyJ[\w-]{8,2000}\.eyJ[\w-]{4,4000}\.[\w-]{8,1000})/g;
const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----[\s\S]{1,4096}?-----END (?:[A-Z]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
const BASIC = /\bBasic ([A-Za-z0-9+/]{12,400}={0,2})(?![\w+/=])/g;

/** Links between a password and its label: a sign, or a verb within a few words. */
const SIGN = /["']?\s{0,3}[:=]>?\s{0,3}["'`]?/y;
const VERB =
  /(?:\s(?!(?:is|are|was|lautet|ist|est|es|é)\s)[\p{L}\p{N}_'-]{1,24}){0,5}(?:\s(?:is|are|was|lautet|ist|est|es|é|to)(?:\s(?:now|still|set to))?:?|\s?[:=])\s["'`]?/uy;
const WORD = /[^\s"'`<>]{3,128}/y;
const LOOSE_WORD = /[^\s"'`<>,]{3,128}/y;
const TOKEN = /[A-Za-z0-9+/_.~-]{16,512}={0,2}/y;
const TRAILING = /[.,;:!?)\]}]$/;
/** Words about passwords that are not passwords. */
const NO_PASSWORD =
  /^(?:required|reset|null|none|true|false|yes|no|optional|string|text|forgotten|changed|hidden|wrong|invalid|empty|undefined|unknown|the|your|my|not|\*+|x+|n\/a|must|should|at|too|set|expired|correct|incorrect|protected|<.*|\$\{?.*|%s|hashed|encrypted)$/i;
/** An expression of a program: a call, a look-up, a path of names, a variable. */
const EXPRESSION = /[[({]|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|^[a-z]+(?:_[a-z]+)+$|^[a-z]+(?:[A-Z][a-z]+)+$|^\$/;
const LETTERS_OF_TWO_KINDS = /\d|[^\p{L}\p{N}]|\p{Ll}\p{Lu}/u;

const PIN = /\d{4,8}(?![\d.,:/-]*\d)/y;
const CODE = /(?:(?:[A-Z]{1,2}-)?\d{4,8}|\d{3}[ -]\d{3})(?![\d.,:/-]*\d)/y;
/** "Your Uber code is 4471", but not the code of a place, a sale or a program. */
const YOUR_CODE =
  /\byour (?:(?!zip|area|postal|promo|discount|coupon|dress|country|error|status|qr|bar|source|product|exit|color|colour|tax|dial)[\w-]{1,20} ){0,2}code(?: is|:) (\d{4,8})(?![\d.,:/-]*\d)/gi;
/** "Instagram code: 389 204" */
const SENT_CODE = /\b[A-Z][a-z]{2,20} code:? (\d{3}[ -]\d{3})(?![\d.,:/-]*\d)/g;
const PASSWORD_BEFORE =
  /(?<!\S)([^\s"'`<>]{4,64}) (?:is|ist|est|es|è|é) (?:the|my|our|your|his|her|das|mein|unser|le|la|el|il|o|a)\s(?:[\p{L}-]{1,16} ){0,2}(?:password|passcode|passphrase|passwort|kennwort|mot de passe|contraseña|senha)/giu;
const CODE_BEFORE =
  /(?<![\w.,:/-])(?:[A-Z]{1,2}-)?\d{4,8}(?=\s(?:is|ist|est|es|è|é)\s(?:your|the|my|ihr|dein|votre|su|tu|il)\b)/gi;
const CODE_TO_VERIFY =
  /\b(?:use|enter|type)\s((?:[A-Z]{1,2}-)?\d{4,8})\s(?:to|as|for)\s(?:verify|sign|log|confirm|authenticate|your)/gi;

export function findSecrets(scan: Scan): void {
  const { text } = scan;
  for (const { 0: key, index } of text.matchAll(KEYED))
    if (/\d/.test(key)) scan.add('secret', index, index + key.length, 0.95);
  if (text.includes('-----BEGIN'))
    for (const { 0: key, index } of text.matchAll(PRIVATE_KEY)) scan.add('secret', index, index + key.length, 0.95);
  if (text.includes('Basic '))
    for (const { 0: all, 1: key = '', index } of text.matchAll(BASIC))
      if (/^[ -9;-~]+:[ -~]+$/.test(Buffer.from(key, 'base64').toString('latin1')))
        scan.add('secret', index + all.length - key.length, index + all.length, 0.9);
  findTokens(scan);
  findPasswords(scan);
  if (scan.digits >= 4) findCodes(scan);
}

/** Random-looking values after a cue of a key. */
function findTokens(scan: Scan): void {
  for (const cue of scan.cues('secret')) {
    const from = behindSign(scan.text, cue.to) ?? skipLink(scan.text, cue.to);
    if (from === undefined) continue;
    const token = matchAt(TOKEN, scan.text, from)?.replace(/[.~]+$/, '');
    if (token !== undefined && /\d/.test(token) && /[A-Za-z]/.test(token) && !token.includes('://'))
      scan.add('secret', from, from + token.length, 0.85);
  }
}

function findPasswords(scan: Scan): void {
  if (scan.cues('password').length > 0)
    for (const { 0: all, 1: word = '', index } of scan.text.matchAll(PASSWORD_BEFORE))
      if (all !== word && LETTERS_OF_TWO_KINDS.test(word) && !EXPRESSION.test(word))
        scan.add('password', index, index + word.length, BY_CUE);
  for (const cue of [...scan.cues('password'), ...scan.cues('pass')]) {
    const sign = behindSign(scan.text, cue.to);
    // "pass" is also an ordinary word: only a sign makes it a label.
    const from = sign ?? (cue.kind === 'pass' ? undefined : behindVerb(scan.text, cue.to));
    if (from === undefined) continue;
    let word = matchAt(sign === undefined ? WORD : LOOSE_WORD, scan.text, from);
    if (word === undefined) continue;
    if (TRAILING.test(word) && !/^[^.,;:!?]*!$/.test(word)) word = word.slice(0, -1);
    else if (word.endsWith('!') && scan.text[from + word.length] === undefined && !/\d/.test(word))
      word = word.slice(0, -1);
    const written = sign !== undefined || LETTERS_OF_TWO_KINDS.test(word);
    if (word.length >= 4 && written && !NO_PASSWORD.test(word) && !EXPRESSION.test(word))
      scan.add('password', from, from + word.length, BY_CUE);
  }
}

function findCodes(scan: Scan): void {
  const { text } = scan;
  for (const cue of scan.cues('pin')) takeCode(scan, 'pin', cue.to, PIN);
  for (const cue of scan.cues('otp')) takeCode(scan, 'otp', cue.to, CODE);
  for (const { 0: code, index } of text.matchAll(CODE_BEFORE))
    if (scan.explained('otp', index)) scan.add('otp', index, index + code.length, BY_CUE);
    else if (scan.explained('pin', index)) scan.add('pin', index, index + code.length, BY_CUE);
  for (const pattern of [CODE_TO_VERIFY, YOUR_CODE, SENT_CODE])
    for (const { 0: all, 1: code = '', index } of text.matchAll(pattern)) {
      const from = index + all.lastIndexOf(code);
      scan.add('otp', from, from + code.length, BY_CUE);
    }
}

function takeCode(scan: Scan, category: 'pin' | 'otp', behind: number, shape: RegExp): void {
  const from = skipLink(scan.text, behind);
  const code = from === undefined ? undefined : matchAt(shape, scan.text, from);
  if (from !== undefined && code !== undefined) scan.add(category, from, from + code.length, BY_CUE);
}

function behindSign(text: string, at: number): number | undefined {
  const sign = matchAt(SIGN, text, at);
  return sign === undefined ? undefined : at + sign.length;
}

function behindVerb(text: string, at: number): number | undefined {
  const verb = matchAt(VERB, text, at);
  return verb === undefined ? undefined : at + verb.length;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
