/* Classes of code points: ASCII, ends of runs, gaps between them. */
#include "base/unicode.h"
#include "tests/test.h"

TEST(letters_and_digits_are_told_from_the_rest)
{
    static const struct {
        const char *what;
        uint32_t rune;
        bool letter, digit;
    } rows[] = {
        { "NUL", 0, false, false },
        { "before A", '@', false, false },
        { "A", 'A', true, false },
        { "z", 'z', true, false },
        { "behind z", '{', false, false },
        { "0", '0', false, true },
        { "9", '9', false, true },
        { "behind 9", ':', false, false },
        { "feminine ordinal, the first beyond ASCII", 0xAA, true, false },
        { "multiplication sign, between letters", 0xD7, false, false },
        { "sharp s", 0xDF, true, false },
        { "Greek alpha", 0x3B1, true, false },
        { "Arabic-Indic three", 0x663, false, true },
        { "superscript two is no digit", 0xB2, false, false },
        { "combining acute", 0x301, false, false },
        { "CJK", 0x65E5, true, false },
        { "emoji", 0x1F600, false, false },
        { "mathematical digit", 0x1D7FF, false, true },
        { "last letter", 0x323AF, true, false },
        { "behind it", 0x323B0, false, false },
        { "largest code point", 0x10FFFF, false, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_INT(rows[i].what, unicode_is_letter(rows[i].rune), rows[i].letter);
        CHECK_INT(rows[i].what, unicode_is_digit(rows[i].rune), rows[i].digit);
    }
}
