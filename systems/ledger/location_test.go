package ledger_test

import (
	"context"
	"errors"
	"testing"

	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// TestMerchantsAndAccountsPointToLocations asks for a location that is there, and for one that is
// not.
func TestMerchantsAndAccountsPointToLocations(t *testing.T) {
	broken := errors.New("the directory is on fire")
	b := openBooks(t, ledger.Options{LocationExists: func(
		_ context.Context, id ledger.LocationID,
	) (bool, error) {
		if id == "burning" {
			return false, broken
		}
		return id == "akl-01", nil
	}})
	ctx := t.Context()
	open := func(at ledger.LocationID) (ledger.AccountReceipt, error) {
		return b.OpenAccount(ctx, ledger.NewAccount{ID: "till", UserID: "shop",
			AccountType: "till", Currency: "NZD", LocationID: at})
	}
	create := func(at ledger.LocationID) (ledger.MerchantReceipt, error) {
		return b.CreateMerchant(ctx, ledger.NewMerchant{ID: "shop", Name: "Shop", LocationID: at})
	}
	for at, want := range map[ledger.LocationID]error{
		"wlg-01": ledger.ErrLocationNotFound, "burning": broken, "a b": ledger.ErrInvalidRequest,
	} {
		if _, err := open(at); !errors.Is(err, want) {
			t.Errorf("an account at %s: %v", at, err)
		}
		if _, err := create(at); !errors.Is(err, want) {
			t.Errorf("a merchant at %s: %v", at, err)
		}
	}
	if a, err := open("akl-01"); err != nil || a.LocationID != "akl-01" {
		t.Fatal(a, err)
	}
	if m, err := create("akl-01"); err != nil || m.LocationID != "akl-01" {
		t.Fatal(m, err)
	}
	if a, err := b.Account(ctx, "till"); err != nil || a.LocationID != "akl-01" {
		t.Error(a, err)
	}
	if m, err := b.Merchant(ctx, "shop"); err != nil || m.LocationID != "akl-01" {
		t.Error(m, err)
	}
	// A repeat that names another place, or none, is another request.
	if _, err := open(""); !errors.Is(err, ledger.ErrAccountExists) {
		t.Error(err)
	}
	if _, err := create(""); !errors.Is(err, ledger.ErrMerchantExists) {
		t.Error(err)
	}
}
