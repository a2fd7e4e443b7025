// Cues: words that announce what follows them. Phrases are in lower case, as separate words. A phrase announces one
// kind of thing, and the longest phrase at a place wins ("patient id" over "id").

export const CUES = {
  phone:
    'phone|telephone|tel|cell|cellphone|mobile|mob|call|text|ring|dial|whatsapp|sms|hotline|contact number|my number|' +
    'his number|her number|their number|our number|phone number|telephone number|mobile number|cell number|wechat|' +
    'telefon|telefonnummer|handy|handynummer|mobil|rufnummer|tél|téléphone|portable|teléfono|telefono|móvil|celular|' +
    'telefone|telemóvel|cellulare|telefoon|mobiel|telefonnr|puhelin|telefonszám|телефон|тел|τηλέφωνο|電話番号|電話|电话|手机|' +
    '전화번호|전화|هاتف|טלפון|फ़ोन|reach me at|reach me on',
  introduction:
    'my name is|my name s|name is|i am called|me llamo|mi nombre es|je m appelle|ich heiße|mi chiamo|meu nome é|' +
    'mijn naam is|i m|i am|this is|ich bin|je suis|soy',
  fax: 'fax|telefax|fax number|telecopie|télécopie|faks|faxnummer|факс|传真|ファックス',
  ssn: 'ssn|social security number|social security no|social security|soc sec|ss number',
  medical_record_number:
    'mrn|medical record|medical record number|medical record no|patient id|patient number|patient no|chart number|' +
    'chart no|hospital number|nhs number|nhs no|nhs|patientennummer|número de historia clínica|health record number',
  health_plan_number:
    'member id|member number|medicare|medicare number|medicare id|medicaid|medicaid id|insurance number|' +
    'insurance policy number|insurance id|policy number|policy no|health insurance number|health plan number|health plan id|' +
    'beneficiary number|beneficiary id|subscriber id|versichertennummer|krankenversichertennummer|kvnr|kvnummer|' +
    'krankenversicherungsnummer|group number|health card number|health card|mbi',
  account_number:
    'account|account number|kontonr|konto|checking account|savings account|account no|acct|acct number|acct no|bank account|bank account number|routing|' +
    'routing number|aba|sort code|kontonummer|konto nr|bankleitzahl|blz|iban number|número de cuenta|' +
    'numéro de compte|conta corrente|número da conta|numero di conto|rekeningnummer|numer konta|account num',
  driver_license:
    'driver s license|drivers license|driver license|driver s licence|driver licence|drivers licence|driving licence|' +
    'driving license|driver s license number|driver license number|drivers license number|driver s licence number|' +
    'driver licence number|driving licence number|dl|dl number|dl no|führerschein|führerscheinnummer|führerschein nr|' +
    'führerschein nummer|fuehrerschein|fuehrerscheinnummer|fahrerlaubnis|fahrerlaubnisnummer|permis de conduire|' +
    'carnet de conducir|licencia de conducir|permiso de conducir|carta de condução|patente di guida|rijbewijs|' +
    'rijbewijsnummer|prawo jazdy|körkort|kørekort|førerkort|ajokortti|cnh|ehliyet|водительское удостоверение|運転免許証|驾驶证',
  license_number:
    'license number|licence number|license no|licence no|license|medical license|medical license number|' +
    'professional license|certificate number|certificate no',
  dea: 'dea|dea number|dea no',
  npi: 'npi|npi number|national provider identifier',
  vin: 'vin|vin number|vehicle identification number|chassis number|fahrgestellnummer',
  plate:
    'license plate|licence plate|number plate|plate number|registration plate|license plate number|reg plate|kennzeichen|' +
    'nummernschild|plaque d immatriculation|immatriculation|matrícula|targa|kenteken|license tag|vehicle registration|registration number|reg no|vehicle reg',
  imei: 'imei|imei number|imsi|iccid|meid',
  device_id:
    'serial number|serial no|serial|sn|s n|device id|device identifier|device udid|udid|android id|android device id|' +
    'advertising id|idfa|gaid|seriennummer|número de serie|numéro de série|device serial number|pacemaker serial',
  biometric_id:
    'fingerprint|fingerprint id|fingerprint template|voiceprint|voice print|retina scan|retinal scan|iris scan|iris code|' +
    'face template|faceprint|face id template|biometric id|biometric|palm print|hand geometry|dna profile|dna sample',
  photo:
    'photo|photograph|picture|headshot|portrait|selfie|image of her|image of him|mugshot|profile picture|foto|passfoto',
  unique_id:
    'employee id|employee number|employee no|customer id|customer number|customer no|client id|client number|user id|' +
    'student id|student number|student no|staff id|staff number|badge number|badge id|loyalty number|personalnummer|' +
    'kundennummer|matrikelnummer|número de cliente|numéro client|numero cliente|patient uuid|frequent flyer number|' +
    'membership number|subject id|participant id|inmate number|personnel number|library card number|voter id number',
  passport:
    'passport|passport no|passport number|reisepass|reisepassnummer|reisepass nr|passnummer|passeport|pasaporte|' +
    'passaporte|passaporto|paspoort|paspoortnummer|paszport|паспорт|护照|护照号|パスポート|여권|pass nr|numéro de passeport|' +
    'número de pasaporte|pass no|旅券番号',
  birth:
    'born|born on|bday|geb|geb am|date of birth|dob|birthday|birthdate|birth date|geboren|geboren am|geburtsdatum|geburtstag|née|né|' +
    'née le|né le|date de naissance|fecha de nacimiento|nacido el|nacida el|nacida|nacido|data di nascita|nato il|' +
    'nata il|data de nascimento|nascido em|nascida em|geboortedatum|data urodzenia|födelsedatum|född|дата рождения|родился|родилась|народився|народилася|' +
    '生年月日|出生日期|생년월일|d o b|fødselsdato|syntymäaika|születési dátum|doğum tarihi',
  health_date:
    'admitted|admission|admission date|discharged|discharge|discharge date|surgery|operation|operated|biopsy|diagnosed|' +
    'diagnosis|died|deceased|date of death|death|passed away|hospitalised|hospitalized|hospital|prescribed|treated|' +
    'treatment|vaccinated|vaccination|date of service|infusion|transplant|chemotherapy|procedure|aufgenommen|' +
    'entlassen|gestorben|verstorben|opération|hospitalisé|ingresado|fallecido|visit date',
  zip:
    'zip|zip code|zipcode|postcode|post code|postal code|plz|postleitzahl|código postal|code postal|cep|cap|postnummer|' +
    'pincode|pin code number|郵便番号|邮编',
  age: 'age|aged|alter|âge|edad',
  password:
    'password|passwd|pwd|passphrase|passcode|passwort|kennwort|contraseña|mot de passe|senha|wachtwoord|hasło|lösenord|' +
    'пароль|密码|パスワード|비밀번호|parola|şifre|salasana|adgangskode|clave',
  pass: 'pass|pw',
  pin: 'door code|gate code|alarm code|entry code|lock code|safe code|pin|pin code|pin number|pincode pin|pin nummer|geheimzahl|código pin|code pin',
  otp:
    'verification code|one time code|one time password|one time passcode|otp|security code|login code|2fa code|auth code|' +
    'authentication code|sms code|access code|bestätigungscode|code de vérification|código de verificación|sign in code|' +
    'confirmation code is|einmalcode|einmalpasswort|mfa code|验证码|認証コード|인증번호|codice di verifica',
  secret:
    'api key|apikey|api_key|secret key|secret|client secret|client_secret|access key|access token|auth token|token|' +
    'bearer|private key|signing key|secret_key|access_token|api token|encryption key|refresh token|aws_secret_access_key',
  card:
    'card|credit card|card number|credit card number|debit card|visa|mastercard|amex|american express|kreditkarte|' +
    'carte bancaire|tarjeta|cartão|carta di credito|discover|cc',
  any_id:
    'national id|id number|id no|identity number|identity card|identity card number|id card|id card number|identification number|' +
    'personal id|personal number|personalausweis|personalausweisnummer|carte d identité|documento de identidad|cédula|' +
    'cedula|carta d identità|national identification number|national id number|tax id|taxpayer id|tin|tax number|' +
    'resident id|civil id|citizen id|thai id|south african id|sa id|ausweisnummer|身份证件|identity no|national identity number',
  'br-cpf': 'cpf',
  'pl-pesel': 'pesel',
  'nl-bsn': 'bsn|burgerservicenummer|sofinummer',
  'se-pnr': 'personnummer|personnumret',
  'fi-hetu': 'henkilötunnus|hetu|henkilötunnukseni',
  'no-fnr': 'fødselsnummer|personnummer|d nummer',
  'dk-cpr': 'cpr|cpr nummer|cpr nr',
  'in-aadhaar': 'aadhaar|aadhar|aadhaar number|aadhaar no|uid number|आधार',
  'in-pan': 'pan|pan card|pan number|pan no',
  'cn-id': '身份证|身份证号|身份证号码|公民身份号码|chinese id|居民身份证',
  'hk-id': 'hkid|hong kong id|香港身份證|身份證',
  'tw-id': '身分證|身分證字號|taiwan id|統一編號',
  'kr-rrn': '주민등록번호|주민번호|resident registration number|rrn',
  'sg-nric': 'nric|fin number|nric number',
  'my-nric': 'mykad|ic number|nric',
  'th-id': 'thai id|เลขบัตรประชาชน|เลขประจำตัวประชาชน|thai national id',
  'za-id': 'south african id|sa id|rsa id|south african id number',
  'ca-sin':
    'sin|s i n|sin number|social insurance number|social insurance no|social insurance|assurance sociale|nas|n a s',
  'au-tfn': 'tfn|tax file number',
  'tr-tckn': 'kimlik|t c kimlik no|tc kimlik|kimlik no|tckn|tc kimlik no|t c kimlik|tc no',
  'ro-cnp': 'cnp|cod numeric personal',
  'bg-egn': 'egn|егн',
  'cz-rc': 'rodné číslo|rodne cislo|rč',
  'hr-oib': 'oib',
  'pt-nif': 'nif|contribuinte|número de contribuinte',
  'be-nrn': 'niss|insz|rijksregisternummer|numéro national|registre national|numéro de registre national',
  'ch-ahv': 'ahv|ahv nummer|avs|numéro avs|ahv nr|ahvn13',
  'ee-ik': 'isikukood',
  'lt-ak': 'asmens kodas',
  'es-dni': 'dni|nie|nif|documento nacional de identidad',
  'fr-nir': 'sécurité sociale|numéro de sécurité sociale|securite sociale|nir|numéro de sécu|insee',
  'it-cf': 'codice fiscale|cf|cod fiscale',
  'cl-rut': 'rut|run',
  'ar-cuit': 'cuit|cuil',
  'ie-pps': 'pps|ppsn|pps number|pps no',
  'de-steuer': 'steuer id|steuerid|steueridentifikationsnummer|steuerliche identifikationsnummer|idnr|steuer idnr|tin',
  'gb-nino': 'nino|national insurance number|national insurance no|ni number|national insurance',
  'mx-curp': 'curp',
  'mx-rfc': 'rfc',
  'jp-my': 'マイナンバー|個人番号|my number card|mynumber',
  'ru-inn': 'инн|inn',
  'ru-snils': 'снилс|snils',
  'ae-eid': 'emirates id|eid',
  'pk-cnic': 'cnic|nadra',
  'il-id': 'teudat zehut|ת ז|תעודת זהות|israeli id|mispar zehut',
  'gr-afm': 'αφμ|afm|αφ μ',
  'gr-amka': 'αμκα|amka',
  'at-svnr': 'sozialversicherungsnummer|svnr|sv nummer|sv nr',
  'ua-ipn': 'іпн|рнокпп|ідентифікаційний код',
  'id-nik': 'nik|nomor induk kependudukan|ktp',
  'vn-cccd': 'cccd|cmnd|căn cước|căn cước công dân',
  'ph-tin': 'philsys|umid',
  'ng-nin': 'nin|national identification number|bvn',
  'us-itin': 'itin|individual taxpayer identification number',
  'hu-tax': 'adóazonosító|adóazonosító jel|taj szám|személyi szám|személyi száma|személyi számom',
  'co-cc': 'cédula de ciudadanía|c c|cédula',
  'pe-dni': 'dni',
  'ar-dni': 'dni',
} as const;

export type CueKind = keyof typeof CUES;
