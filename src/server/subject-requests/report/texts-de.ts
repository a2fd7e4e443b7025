// The words of a report in German.
import type { ReportTexts } from './texts.ts';

const plural = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

export const GERMAN: ReportTexts = {
  title: 'Bericht zum Antrag einer betroffenen Person',
  kinds: {
    access: 'Auskunft (Art. 15 DSGVO)',
    portability: 'Datenübertragbarkeit (Art. 20 DSGVO)',
    erasure: 'Löschung (Art. 17 DSGVO)',
    rectification: 'Berichtigung (Art. 16 DSGVO)',
    restriction: 'Einschränkung der Verarbeitung (Art. 18 DSGVO)',
    objection: 'Widerspruch (Art. 21 DSGVO)',
  },
  outcomes: {
    fulfilled: 'erfüllt',
    partly_fulfilled: 'teilweise erfüllt',
    refused: 'abgelehnt',
    withdrawn: 'von der Person zurückgenommen',
  },
  types: {
    belief: 'Aussagen',
    event: 'Gesprächsbeiträge',
    state: 'Zustände',
    workflow: 'Abläufe',
    action: 'Handlungen von Agenten',
    observation: 'Beobachtungen',
    goal: 'Ziele',
    reasoning: 'Begründungen',
    consensus: 'Einigungen von Agenten',
    consent: 'Einwilligungen',
  },
  events: {
    'dsr.opened': 'Antrag erfasst',
    'dsr.extended': 'Frist verlängert',
    'dsr.reported': 'Bericht erstellt',
    'dsr.closed': 'Antrag abgeschlossen',
    'user.data_exported': 'Daten ausgegeben',
    'processing.restricted': 'Verarbeitung eingeschränkt',
    'processing.unrestricted': 'Einschränkung aufgehoben',
    'consent.granted': 'Einwilligung erteilt',
    'consent.revoked': 'Einwilligung widerrufen',
    'memory.corrected': 'Eintrag berichtigt',
    'memory.forgotten': 'Eintrag entfernt',
    'user.erased': 'Person gelöscht',
    'key.destroyed': 'Schlüssel der Person vernichtet',
    'erasure.cross_user_redacted': 'Name im Eintrag einer anderen Person geschwärzt',
  },
  statuses: { granted: 'erteilt', revoked: 'widerrufen', none: 'keine' },
  madeAt: (time, software) => `Erstellt am ${time} mit ${software}.`,
  page: (page, pages) => `Seite ${page} von ${pages}`,
  none: 'keine Angabe',
  unknown: 'nicht gezählt',
  request: {
    heading: 'Der Antrag',
    person: 'Person',
    kind: 'Art des Antrags',
    requester: 'Gestellt von',
    received: 'Eingegangen',
    recorded: 'Erfasst',
    recordedBy: (time, actor) => `${time}, von ${actor}`,
    due: 'Antwort fällig',
    used: 'Verbrauchte Zeit',
    usedOf: (used, allowed) => `${used} von ${plural(allowed, 'Tag', 'Tagen')}`,
    left: (days) => `noch ${plural(days, 'Tag', 'Tage')}`,
    overdue: 'überfällig',
    extension: 'Verlängerung',
    extended: (days, time, reason) =>
      `${plural(days, 'Tag', 'Tage')}, am ${time}${reason === undefined ? '' : `: ${reason}`}`,
    outcome: 'Stand',
    open: 'offen',
    closed: (outcome, time) => `${outcome}, abgeschlossen am ${time}`,
    controller: 'Verantwortlicher',
    memory: 'Speicher',
    id: 'Nummer des Antrags',
    note: 'Anmerkung',
    erasedPerson: (fingerprint) =>
      fingerprint === ''
        ? 'nicht mehr genannt: Person gelöscht, Antrag abgeschlossen'
        : `nicht mehr genannt: gelöscht, Fingerabdruck des Schlüssels ${fingerprint}`,
  },
  summary: {
    heading: 'Die Antwort in Kürze',
    erased: (count, time) =>
      `Die Daten der Person wurden am ${time} gelöscht: ${count} ${count === '1' ? 'Eintrag' : 'Einträge'}, in allen Fassungen. Der Schlüssel, unter dem die Daten gespeichert waren, ist vernichtet. Keine Kopie der Daten lässt sich mehr lesen.`,
    neverHeld: (time) =>
      `Der Speicher enthielt nichts über die Person, als die Löschung am ${time} ausgeführt wurde. Es ist vermerkt, dass eine Sicherung die Person nicht zurückbringen darf.`,
    holds: (count) =>
      `Der Speicher enthält ${count} ${count === '1' ? 'Eintrag' : 'Einträge'} über die Person, in allen Fassungen.`,
    holdsNothing: 'Der Speicher enthält keinen Eintrag über die Person.',
    purgePending:
      'Die Verzeichnisse werden noch ohne die Wörter der Person neu geschrieben. Bis dahin ist dieser Bericht nicht endgültig.',
    purgeComplete: (time) => `Die Verzeichnisse waren am ${time} ohne die Wörter der Person neu geschrieben.`,
  },
  held: {
    now: 'Was jetzt gespeichert ist, nach Art und Zeit',
    before: 'Was vor der Löschung gespeichert war, nach Art und Zeit',
    explained: 'Gezählt ist jede Fassung eines Eintrags. Die Zeiten sind die der Einträge, in UTC.',
    type: 'Art',
    count: 'Einträge',
    oldest: 'Ältester',
    newest: 'Neuester',
    total: 'Alle Arten',
    month: 'Zeitraum',
    nothing: 'Es ist nichts gespeichert.',
    beside: (consents, recalls) => `Außerdem: erfasste Einwilligungen: ${consents}; aufgezeichnete Abrufe: ${recalls}.`,
  },
  consents: {
    heading: 'Einwilligungen und Einschränkung',
    purpose: 'Zweck',
    every: 'jeder Zweck',
    status: 'Stand',
    granted: 'Erteilt',
    revoked: 'Widerrufen',
    basis: 'Rechtsgrundlage',
    nothing: 'Es ist keine Einwilligung erfasst.',
    more: (shown, total) => `Aufgeführt sind die ersten ${shown} von ${total}.`,
    restricted: (time, by, reason) =>
      `Die Verarbeitung ist seit ${time} eingeschränkt, durch ${by}${reason === '' ? '' : `: ${reason}`}.`,
    notRestricted: 'Die Verarbeitung ist nicht eingeschränkt.',
  },
  recalls: {
    heading: 'Abrufe über die Person',
    explained:
      'Ein Abruf ist eine Suche im Speicher für einen Agenten oder einen Menschen. Diese suchten nach Daten der Person.',
    time: 'Zeit (UTC)',
    by: 'Durch',
    mode: 'Suche',
    results: 'Treffer',
    nothing: 'Es ist kein Abruf über die Person aufgezeichnet.',
    more: (shown, total) => `Aufgeführt sind die neuesten ${shown} von ${total}.`,
    afterErasure: 'Nach einer Löschung nennen die Aufzeichnungen von Abrufen die Person nicht mehr.',
  },
  acts: {
    heading: 'Was getan wurde',
    explained:
      'Aus dem Protokoll, das eine Kette bildet: Kein Eintrag lässt sich ändern oder entfernen, ohne sie zu brechen.',
    time: 'Zeit (UTC)',
    act: 'Handlung',
    by: 'Durch',
    entry: 'Protokolleintrag',
    times: (count) => ` (${count}-mal)`,
    nothing: 'Es ist keine Handlung verzeichnet.',
    more: (total) => `Aufgeführt sind die neuesten Einträge von ${total}.`,
  },
  proof: {
    heading: 'Der Nachweis der Löschung',
    explained:
      'Der Nachweis ist mit Ed25519 signiert. Er nennt die Einträge des Protokolls, die die Löschung festhalten, und den Schlüssel, der vernichtet wurde.',
    erasedAt: 'Gelöscht',
    count: 'Gelöschte Einträge',
    fingerprint: 'Fingerabdruck des Schlüssels',
    entries: 'Protokolleinträge',
    entry: (partition, seq, hash) => `Partition ${partition}, Eintrag ${seq}: ${hash}`,
    purge: 'Verzeichnisse neu geschrieben',
    key: 'Signierschlüssel',
    signature: 'Signatur',
    issued: 'Signiert',
    verify:
      'Zur Prüfung den Nachweis als Datei speichern und aufrufen: granary proof verify DATEI --public-key SCHLÜSSEL. Den öffentlichen Schlüssel gibt der Betreiber bekannt. Jede andere Umsetzung von Ed25519 ist ebenso geeignet; die Dokumentation nennt die signierten Bytes.',
    asFile: 'Der Nachweis als Datei',
  },
  processing: {
    heading: 'Wie die Daten verarbeitet werden',
    purposes: 'Zwecke',
    recipients: 'Empfänger',
    retention: 'Speicherdauer',
    days: (days) => `${days} Tage, sofern für einen Teil der Daten nichts anderes gilt`,
    source: 'Herkunft',
    sourceText: 'Gespräche mit der Person und mit Agenten, eingelesene Dokumente und was daraus geschlossen wurde.',
    rights: 'Rechte',
    rightsText:
      'Berichtigung, Löschung, Einschränkung, Datenübertragbarkeit, Widerspruch, Widerruf einer Einwilligung und Beschwerde bei einer Aufsichtsbehörde (Art. 12 bis 22 und 77 DSGVO).',
  },
  backup: {
    heading: 'Was eine zurückgespielte Sicherung bewirkt',
    erased: [
      'Alle Einträge der Person lagen unter einem eigenen Schlüssel, und dieser Schlüssel ist vernichtet. Eine Kopie der Daten aus der Zeit vor der Löschung lässt sich mit den heutigen Schlüsseln nicht lesen.',
      'Wird eine Sicherung an die Stelle des heutigen Bestands zurückgespielt, so wird jede seither ausgeführte Löschung darin wiederholt, bevor sie benutzt wird.',
      'Eine Sicherung von vor der Löschung, die zusammen mit ihrer eigenen Kopie der Schlüssel aufbewahrt wird, bleibt lesbar, bis sie gelöscht wird. In jeder Hinsicht vollständig ist die Löschung, wenn die letzte solche Sicherung nicht mehr besteht.',
      'In Sicherungen von vor der Löschung stehen Einträge anderer Personen, die diese Person nennen, wie vor der Schwärzung.',
    ],
    held: [
      'Eine Sicherung enthält, was der Speicher bei ihrer Erstellung enthielt. Sie ist verschlüsselt und mit den Schlüsseln jener Zeit lesbar.',
      'Wird die Person später gelöscht, so wird die Löschung in einer zurückgespielten Sicherung wiederholt, bevor sie benutzt wird.',
    ],
    last: (time) => `Die neueste Sicherung des Servers ist vom ${time}.`,
    noBackup:
      'Der Server hat selbst keine Sicherung erstellt. Kopien, die der Betreiber auf andere Weise anlegt, sind ihm nicht bekannt.',
  },
  limits: {
    heading: 'Was eine Löschung nicht durchsucht',
    texts: [
      'Einträge anderer Personen werden geschwärzt, wo sie diese Person als Subjekt oder Objekt haben, genau so, wie die Person im Speicher heißt. Der Wortlaut ihrer übrigen Texte wird nicht durchsucht.',
      'Protokolle und Kopien außerhalb des Speichers, etwa in angeschlossenen Systemen, sind nicht Teil dieses Berichts.',
    ],
  },
};
