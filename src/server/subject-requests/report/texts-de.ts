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
    withdrawn: 'von der betroffenen Person zurückgenommen',
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
    consensus: 'Übereinkünfte von Agenten',
    consent: 'Einwilligungen',
  },
  events: {
    'dsr.opened': 'Antrag erfasst',
    'dsr.extended': 'Frist verlängert',
    'dsr.reported': 'Bericht erstellt',
    'dsr.closed': 'Antrag abgeschlossen',
    'user.data_exported': 'Daten exportiert',
    'processing.restricted': 'Verarbeitung eingeschränkt',
    'processing.unrestricted': 'Einschränkung der Verarbeitung aufgehoben',
    'consent.granted': 'Einwilligung erteilt',
    'consent.revoked': 'Einwilligung widerrufen',
    'memory.corrected': 'Eintrag berichtigt',
    'memory.forgotten': 'Eintrag entfernt',
    'user.erased': 'Daten der Person gelöscht',
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
    person: 'Betroffene Person',
    kind: 'Art des Antrags',
    requester: 'Antragsteller',
    received: 'Eingegangen am',
    recorded: 'Erfasst am',
    recordedBy: (time, actor) => `${time}, von ${actor}`,
    due: 'Antwort fällig am',
    used: 'Verstrichene Zeit',
    usedOf: (used, allowed) => `${used} von ${plural(allowed, 'Tag', 'Tagen')}`,
    left: (days) => `noch ${plural(days, 'voller Tag', 'volle Tage')}`,
    overdue: 'überfällig',
    extension: 'Fristverlängerung',
    extended: (days, time, reason) =>
      `${plural(days, 'Tag', 'Tage')}, am ${time}${reason === undefined ? '' : `: ${reason}`}`,
    outcome: 'Stand',
    open: 'offen',
    closed: (outcome, time) => `${outcome}, abgeschlossen am ${time}`,
    controller: 'Verantwortlicher',
    memory: 'Speicher',
    id: 'Antragsnummer',
    note: 'Anmerkung',
    erasedPerson: (fingerprint) =>
      fingerprint === ''
        ? 'nicht mehr genannt: Daten gelöscht, Antrag abgeschlossen'
        : `nicht mehr genannt: gelöscht, Fingerabdruck des Schlüssels ${fingerprint}`,
  },
  summary: {
    heading: 'Die Antwort in Kürze',
    erased: (count, time) =>
      `Die Daten der Person wurden am ${time} gelöscht: ${count} ${count === '1' ? 'Eintrag' : 'Einträge'}, in allen Fassungen. Der Schlüssel, unter dem die Daten gespeichert waren, ist vernichtet: Kopien der Daten lassen sich mit den verbliebenen Schlüsseln nicht lesen.`,
    neverHeld: (time) =>
      `Der Speicher enthielt nichts über die Person, als die Löschung am ${time} ausgeführt wurde. Es ist vermerkt, dass Daten der Person auch aus einer Sicherung nicht wiederhergestellt werden dürfen.`,
    holds: (count) =>
      `Der Speicher enthält ${count} ${count === '1' ? 'Eintrag' : 'Einträge'} über die Person, in allen Fassungen.`,
    holdsNothing: 'Der Speicher enthält keinen Eintrag über die Person.',
    purgePending:
      'Die Suchindizes werden noch ohne die Angaben der Person neu geschrieben. Bis dahin ist dieser Bericht nicht endgültig.',
    purgeComplete: (time) =>
      `Die Suchindizes waren am ${time} vollständig ohne die Angaben der Person neu geschrieben.`,
  },
  held: {
    now: 'Gespeicherte Daten, nach Art und Zeit',
    before: 'Vor der Löschung gespeicherte Daten, nach Art und Zeit',
    explained: 'Jede Fassung eines Eintrags ist gezählt. Die Zeitangaben sind die der Einträge, in UTC.',
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
    heading: 'Einwilligungen und Einschränkung der Verarbeitung',
    purpose: 'Zweck',
    every: 'jeder Zweck',
    status: 'Stand',
    granted: 'Erteilt',
    revoked: 'Widerrufen',
    basis: 'Rechtsgrundlage',
    nothing: 'Es ist keine Einwilligung erfasst.',
    more: (shown, total) => `Aufgeführt ${shown === '1' ? 'ist die erste' : `sind die ersten ${shown}`} von ${total}.`,
    restricted: (time, by, reason) =>
      `Die Verarbeitung ist seit ${time} eingeschränkt, veranlasst durch ${by}${reason === '' ? '' : `: ${reason}`}.`,
    notRestricted: 'Die Verarbeitung ist nicht eingeschränkt.',
  },
  recalls: {
    heading: 'Abrufe über die Person',
    explained:
      'Ein Abruf ist eine Suche im Speicher für einen Agenten oder einen Menschen. Die folgenden Abrufe betrafen Daten der Person.',
    time: 'Zeit (UTC)',
    by: 'Durch',
    mode: 'Suche',
    results: 'Treffer',
    modes: {
      structural: 'nach Struktur',
      text: 'nach Wörtern',
      hybrid: 'nach Wörtern und Struktur',
      chain: 'in Schritten',
      cal: 'Abfrage',
    },
    nothing: 'Es ist kein Abruf über die Person aufgezeichnet.',
    more: (shown, total) => {
      const listed = `Aufgeführt ${shown === '1' ? 'ist der neueste' : `sind die neuesten ${shown}`}`;
      return total === undefined ? `${listed}. Die Gesamtzahl ist nicht ermittelt.` : `${listed} von ${total}.`;
    },
    afterErasure: 'Nach einer Löschung nennen die Aufzeichnungen von Abrufen die Person nicht mehr.',
  },
  acts: {
    heading: 'Durchgeführte Maßnahmen',
    explained:
      'Aus dem Protokoll, dessen Einträge eine Kette bilden: Wird ein Eintrag geändert oder entfernt, so ist die Kette nachweisbar unterbrochen.',
    time: 'Zeit (UTC)',
    act: 'Maßnahme',
    by: 'Durch',
    entry: 'Protokolleintrag',
    times: (count) => ` (${count}-mal)`,
    nothing: 'Es ist keine Maßnahme verzeichnet.',
    more: (total) => `Aufgeführt sind die neuesten von ${total} Einträgen.`,
  },
  proof: {
    heading: 'Der Nachweis der Löschung',
    explained:
      'Der Nachweis ist mit Ed25519 signiert. Er nennt die Einträge des Protokolls, die die Löschung festhalten, und den Schlüssel, der vernichtet wurde.',
    erasedAt: 'Gelöscht am',
    count: 'Gelöschte Einträge',
    fingerprint: 'Fingerabdruck des Schlüssels',
    entries: 'Protokolleinträge',
    entry: (partition, seq, hash) => `Partition ${partition}, Eintrag ${seq}: ${hash}`,
    purge: 'Suchindizes neu geschrieben',
    purgeStates: { pending: 'noch nicht', complete: 'ja' },
    key: 'Signierschlüssel',
    signature: 'Signatur',
    issued: 'Signiert am',
    verify:
      'Speichern Sie zur Prüfung den Nachweis als Datei, und führen Sie aus: granary proof verify DATEI --public-key SCHLÜSSEL. Den öffentlichen Schlüssel gibt der Betreiber bekannt. Jede andere Implementierung von Ed25519 ist ebenso geeignet; die Dokumentation nennt die signierten Bytes.',
    asFile: 'Der Nachweis als Datei',
  },
  processing: {
    heading: 'Angaben zur Verarbeitung',
    purposes: 'Verarbeitungszwecke',
    recipients: 'Empfänger',
    retention: 'Speicherdauer',
    noLimit: 'keine feste Dauer',
    days: (days) => `${days} ${days === '1' ? 'Tag' : 'Tage'}, sofern für einen Teil der Daten nichts anderes gilt`,
    source: 'Herkunft der Daten',
    sourceText: 'Gespräche mit der Person und mit Agenten, importierte Dokumente und daraus abgeleitete Angaben.',
    rights: 'Rechte der betroffenen Person',
    rightsText:
      'Berichtigung, Löschung, Einschränkung der Verarbeitung, Datenübertragbarkeit, Widerspruch, Widerruf einer Einwilligung und Beschwerde bei einer Aufsichtsbehörde (Art. 12 bis 22 und 77 DSGVO).',
  },
  backup: {
    heading: 'Was eine zurückgespielte Sicherung bewirkt',
    erased: [
      'Alle Einträge der Person lagen unter einem eigenen Schlüssel, und dieser Schlüssel ist vernichtet. Eine Kopie der Daten aus der Zeit vor der Löschung lässt sich mit den heutigen Schlüsseln nicht lesen.',
      'Wird eine Sicherung an die Stelle des heutigen Bestands zurückgespielt, so wird jede seither ausgeführte Löschung darin wiederholt, bevor sie benutzt wird.',
      'Eine Sicherung aus der Zeit vor der Löschung, die zusammen mit ihrer eigenen Kopie der Schlüssel aufbewahrt wird, bleibt lesbar, bis sie gelöscht wird. Vollständig ist die Löschung erst, wenn die letzte solche Sicherung gelöscht ist.',
      'In Sicherungen aus der Zeit vor der Löschung sind Einträge anderer Personen, die diese Person nennen, nicht geschwärzt.',
    ],
    held: [
      'Eine Sicherung enthält, was der Speicher bei ihrer Erstellung enthielt. Sie ist verschlüsselt und mit den Schlüsseln jener Zeit lesbar.',
      'Wird die Person später gelöscht, so wird die Löschung in einer zurückgespielten Sicherung wiederholt, bevor sie benutzt wird.',
    ],
    last: (time) => `Die neueste Sicherung des Servers ist vom ${time}.`,
    noBackup:
      'Der Server hat selbst keine Sicherung erstellt. Kopien, die der Betreiber auf andere Weise anlegt, sind dem Server nicht bekannt.',
  },
  limits: {
    heading: 'Was eine Löschung nicht durchsucht',
    texts: [
      'Einträge anderer Personen werden geschwärzt, soweit ihr Subjekt oder Objekt genau die Kennung ist, unter der die Person im Speicher geführt wird. Die übrigen Texte dieser Einträge werden nicht durchsucht.',
      'Protokolle und Kopien außerhalb des Speichers, etwa in angeschlossenen Systemen, sind nicht Teil dieses Berichts.',
    ],
  },
};
