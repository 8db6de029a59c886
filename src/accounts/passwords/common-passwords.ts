// The most common passwords that are otherwise long enough. Lower case.

/** The list. */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `0000000000 0123456789 0987654321 1029384756 1111111111 1112223334 111222333444 11223344556 112233445566 1212121212
1231231231 123123123123 1234512345 12345678900 123456789000 1234567890 12345678910 1234567891 12345678911 123456789a
123456789q 123456789qwe 1234567899 1234567890q 1234567890qwertyuiop 123456abcdef 123qweasdzxc 1357924680 1472583690
1472583690 1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx3edc 1qazxsw23edc 2222222222 5555555555 7777777777 8888888888 9876543210
9999999999 a123456789 aa12345678 aaaaaaaaaa abc1234567 abc123456789 abcd123456 abcd1234567 abcdefghij abcdefghijk
administrator asd123456789 asdf123456 asdfasdfasdf asdfghjkl1 asdfghjkl123 asdfghjkl; azertyuiop basketball
changeme123 chocolate1 computer123 football12 football123 iloveyou12 iloveyou123 iloveyou1234 iloveyou22 iloveyou!!
letmein1234 letmein123 liverpool1 manchester motherlode p@ssw0rd12 p@ssw0rd123 p@ssword123 passw0rd123 passw0rd12
password00 password01 password10 password11 password12 password123 password1234 password12345 password123456
password123! password1! password2 password99 passwordpassword princess12 princess123 q1w2e3r4t5 q1w2e3r4t5y6
qazwsxedcrfv qwer123456 qwerasdfzxcv qwerqwer1234 qwert12345 qwerty1234 qwerty12345 qwerty123456 qwerty123! qwertyqwerty
qwertyuiop qwertyuiop1 qwertyuiop123 qwertyuiop[] sunshine12 sunshine123 superman123 test123456 testtest12 testtest123
thisismypassword unknown123 welcome123 welcome1234 welcome2024 welcome2025 welcome2026 whatever123 zaq12wsxcde3
zxcvbnm1234 zxcvbnm123 zxcvbnm,./ zxcvbnmasdfghjkl`.split(/\s+/),
);
